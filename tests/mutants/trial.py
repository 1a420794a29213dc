# SPDX-License-Identifier: MIT
"""trial.py - run test programs, and find the first that notices a fault"""
import concurrent.futures
import os
import re
import signal
import subprocess
import time

# A tool's faults concern the programs that run it.
CONCERNS = [
    ('tools/exporter/', ('exporter', 'figures', 'json', 'histograms')),
    ('tools/doctor/', ('doctor', 'report')),
    ('tools/top/', ('top', 'figures', 'tools')),
    ('tools/trace/', ('trace', 'recorders', 'report')),
    ('tools/', ('tool', 'top', 'stat', 'ps', 'json', 'figures', 'bench', 'exit', 'share', 'report', 'features')),
]


def concerned(path, program):
    for folder, words in CONCERNS:
        if path.startswith(folder):
            return any(word in program for word in words)
    return True


class Trial:
    def __init__(self, tree, most_at_once):
        self.tree, self.most_at_once = tree, most_at_once
        self.seconds = {}  # how long a program takes without a fault
        self.parts = {}  # the sources in a program

    def run(self, program, limit=None):
        """Run a test program; true where all of its tests pass."""
        environment = dict(os.environ, QUOIT_BUILD='build/debug', LC_ALL='C')
        environment.pop('QUOIT_SOCKET', None)
        begun = time.monotonic()
        child = subprocess.Popen([self.tree.path(program)], cwd=self.tree.folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            good = child.wait(limit or 20 + 5 * self.seconds[program]) == 0
        except subprocess.TimeoutExpired:
            good = False
        try:
            os.killpg(child.pid, signal.SIGKILL)  # what a failed test has left
        except ProcessLookupError:
            pass
        child.wait()
        self.seconds.setdefault(program, time.monotonic() - begun)
        return good

    def all(self, programs):
        """Those that fail, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.most_at_once) as pool:
            return [p for p, good in zip(programs, pool.map(self.run, programs)) if not good]

    def learn(self, programs):
        """Run them without a fault: returns those that can be used, each of which passes."""
        for program in programs:
            self.parts[program] = self.tree.files_in(program)
        with concurrent.futures.ThreadPoolExecutor(self.most_at_once) as pool:
            first = dict(zip(programs, pool.map(lambda program: self.run(program, 300), programs)))
        return [p for p in programs if first[p] or self.run(p, 300)]

    def near(self, program, folder):
        """Does the program's source include a header of this folder?"""
        with open(self.tree.path(program.replace('build/debug/', '') + '.c')) as file:
            text = file.read()
        inner = folder.split('/', 1)[1] + '/' if '/' in folder else ''
        if folder == 'libclient':
            return '<quoit' in text
        return any(name.startswith(inner) and os.path.exists(self.tree.path(folder, name[len(inner):]))
                   for name in re.findall('^#include "(.*)"', text, re.M))

    def order(self, programs, source):
        """Those that look at the source's folder and have it linked in, the most special first.

        Nearly the whole daemon is linked into most, which says little."""
        name = os.path.basename(source)
        found = [p for p in programs if name in self.parts[p] and self.near(p, os.path.dirname(source))]
        return sorted(found, key=lambda p: (os.path.basename(p) != 'test_' + name[:-2], len(self.parts[p])))

    def noticed_by(self, programs, build):
        """The first program that fails, and fails again alone; None: there is none."""
        for i in range(0, len(programs), 2 * self.most_at_once):
            some = programs[i:i + 2 * self.most_at_once]
            if build and not self.tree.make(*some):
                return 'the linker'
            for program in self.all(some):
                if not self.run(program):
                    return os.path.basename(program)
        return None
