# SPDX-License-Identifier: MIT
"""build.py - a copy of the tree that faults are put into, and the test programs that it makes"""
import filecmp
import fnmatch
import os
import shutil
import subprocess

# Arguments in a wrong order are noticed by the compiler where their types differ.
CFLAGS = '-Og -g -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration'
SHARED = ['binaries', 'build/debug/liar/quoitd', 'build/debug/liar/quoit-exec']


def sources(*patterns):
    """The files of the project whose names are like one of the patterns, or all."""
    if os.path.exists('.git'):
        found = subprocess.check_output(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], text=True)
    else:  # they came without their history
        found = subprocess.check_output(['find', '.', '-path', './build', '-prune', '-o', '-type', 'f', '-printf', '%P\n'],
                                        text=True)
    return [name for name in found.split('\n')[:-1]
            if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


class Tree:
    """The copy.  Build folders of it stay, so that the next run builds little."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = folder, jobs

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def fill(self):
        """Make the copy like the tree that we are in."""
        os.makedirs(self.folder, exist_ok=True)
        for name in sources():
            if os.path.isfile(name) and not os.path.islink(name):
                self.put(name)

    def put(self, name):
        """Copy a file, unless it is there as it is here: make compares times."""
        there = self.path(name)
        if os.path.exists(there) and filecmp.cmp(name, there, shallow=False):
            return
        os.makedirs(os.path.dirname(there), exist_ok=True)
        shutil.copy(name, there)

    def make(self, *targets):
        """Build; false where the compiler or linker refuses."""
        done = subprocess.run(['make', '-s', '-k', '-j%d' % self.jobs, 'DEBUG=1', 'CFLAGS=' + CFLAGS, *targets],
                              cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, errors='replace')
        self.said = done.stderr
        return done.returncode == 0

    def programs(self, kind):
        """Every test of that kind that make can build, as targets."""
        return sorted('build/debug/tests/%s/%s' % (kind, name[:-2]) for name in os.listdir(self.path('tests', kind))
                      if name.startswith('test_') and name.endswith('.c'))

    def objects(self, source):
        """What a source is compiled to: more than one file where kernels are compiled for several sets."""
        stem = self.path('build/debug', source[:-2])
        return [o for o in (stem + end for end in ('.o', '.base.o', '.avx2.o', '.avx512.o')) if os.path.exists(o)]

    def code(self, source):
        """The code of a source, without where its lines are."""
        found = b''
        for compiled in self.objects(source):
            subprocess.run(['objcopy', '--strip-debug', compiled, self.path('stripped')], check=True)
            with open(self.path('stripped'), 'rb') as file:
                found += file.read()
        return found

    def files_in(self, program):
        """Names, without folders, of the sources that were linked into a program."""
        table = subprocess.check_output(['readelf', '-sW', self.path(program)], text=True)
        return {line.split()[-1] for line in table.split('\n') if ' FILE ' in line}
