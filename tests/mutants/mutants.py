#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py [OPTION...] [FILE...] - put small faults into the sources, and count those that tests notice

A sample of the faults that faults.py finds, in all sources or in the FILEs, is tried one by one: a
copy of the tree in build/mutants is built with the fault, and tested by the unit programs that have
the file and look at its folder, then by the end-to-end programs that it concerns, until one fails
twice.  For each survivor the line is printed as it is and as it was changed: it asks for a test,
unless both mean the same.

The tests run as children of a process that has processes, /tmp and /dev/shm of its own, and can
write nothing else of the machine, so a faulty daemon may signal or remove what it likes.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import build
import faults
import trial

FOLDER = 'build/mutants'
PATTERNS = ('daemon/*.c', 'libclient/*.c', 'tools/*.c')
# Their faults are no promise: examples, and programs that measure.
LEFT_OUT = ('libclient/examples/', 'tools/cmd_bench', 'tools/bench/')
SLOW_TESTS = 'tests/slow_tests'
PRIVATE = '''mount --bind "$1" "$1" && mount -o remount,bind,ro / && mount -t tmpfs tmpfs /tmp &&
mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /run && echo 1000 >/proc/self/oom_score_adj &&
export QUOIT_MUTANTS=private && shift && exec "$@"'''


def arguments():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('files', nargs='*', metavar='FILE', help='make faults in these alone')
    a.add_argument('--count', type=int, default=40, help='how many faults (40)')
    a.add_argument('--seed', default='1', help='which ones; the same seed gives the same sample (1)')
    a.add_argument('--kind', help='faults of this kind alone: comparison, sign, logic, bits, negation, constant, '
                   'exchange, removal')
    a.add_argument('--patch', action='append', default=[], metavar='FILE',
                   help='try this change of one source instead, which lies outside /tmp; more than one may be named')
    a.add_argument('--unit', action='store_true', help='run unit programs alone')
    a.add_argument('--list', action='store_true', help='print the sample, and run nothing')
    a.add_argument('--least', type=int, default=0, metavar='PERCENT', help='fail if fewer are noticed (0)')
    return a.parse_args()


def alone():
    """Go on where a faulty program can harm nothing; root is needed for it."""
    if os.environ.get('QUOIT_MUTANTS') == 'private':
        return
    if os.getuid() != 0:
        print('skipped: faulty programs are shut in by namespaces, for which root is needed')
        sys.exit(77)
    os.makedirs(FOLDER, exist_ok=True)
    os.execvp('unshare', ['unshare', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc', 'sh', '-c',
                          PRIVATE, 'sh', os.path.abspath(FOLDER), sys.executable, *sys.argv])


def slow():
    """The programs that take too long to be run for each fault."""
    with open(SLOW_TESTS) as file:
        return {'build/debug/tests/' + line.strip() for line in file if not line.startswith('#')}


def sample(options):
    """The faults to try, as (source, its text with the fault, words that tell of it)."""
    for patch in options.patch:
        with open(patch) as file:
            words = file.read()
        path = words.split('\n+++ ', 1)[1].split()[0].removeprefix('b/')
        with tempfile.NamedTemporaryFile('r+') as changed, open(path) as good:
            changed.write(good.read())
            changed.flush()
            subprocess.run(['patch', '-s', '-r', '-', '--no-backup-if-mismatch', changed.name, patch], check=True)
            with open(changed.name) as file: # patch makes another file of that name
                yield path, file.read(), os.path.basename(patch)
    if options.patch:
        return
    found = []
    for path in options.files or build.sources(*PATTERNS):
        if not path.startswith(LEFT_OUT) or options.files:
            with open(path) as file:
                found += faults.of_text(path, file.read())
    found = [fault for fault in found if options.kind in (None, fault.kind)]
    found.sort(key=lambda fault: fault.order(options.seed))
    for fault in found[:options.count]:
        with open(fault.path) as file:
            yield fault.path, fault.apply(file.read()), fault.tell()


class Mutants:
    def __init__(self, options):
        jobs = os.cpu_count()
        self.tree = build.Tree(os.path.abspath(FOLDER), jobs)
        self.unit = trial.Trial(self.tree, 2 * jobs)
        self.e2e = trial.Trial(self.tree, 3 * jobs)
        self.only_unit = options.unit

    def prepare(self, paths):
        """Build without a fault what faults in these sources concern, and learn which tests pass here."""
        self.tree.fill()
        folders = {os.path.dirname(path) for path in paths}
        concerned = {'unit': lambda p: any(self.unit.near(p, folder) for folder in folders),
                     'e2e': lambda p: any(trial.concerned(path, p) for path in paths)}
        left_out = slow()
        quick = {kind: [p for p in self.tree.programs(kind) if p not in left_out and concerned[kind](p)]
                 for kind in concerned}
        wanted = quick['unit'] + ([] if self.only_unit else quick['e2e'] + build.SHARED)
        if not self.tree.make(*wanted):
            sys.exit('mutants.py: the tree does not build without a fault:\n' + self.tree.said)
        self.units = self.unit.learn(quick['unit'])
        self.ends = [] if self.only_unit else self.e2e.learn(quick['e2e'])
        for program in set(wanted) - {*self.units, *self.ends, *build.SHARED}:
            print('  left out: %s fails without a fault' % program)

    def outcome(self, path, text):
        """What a fault comes to: noticed, survived, refused by the compiler, or the same code."""
        before = self.tree.code(path)
        with open(self.tree.path(path), 'w') as file:
            file.write(text)
        compiled = self.tree.objects(path)
        if compiled and not self.tree.make(*(os.path.relpath(o, self.tree.folder) for o in compiled)):
            return 'refused', None
        if compiled and self.tree.code(path) == before:
            return 'same', None
        by = self.unit.noticed_by(self.unit.order(self.units, path), build=True)
        if not by and self.ends:
            if not self.tree.make(*build.SHARED, *self.ends):
                return 'refused', None
            by = self.e2e.noticed_by([p for p in self.ends if trial.concerned(path, p)], build=False)
        return ('noticed', by) if by else ('survived', None)

    def try_one(self, path, text):
        try:
            return self.outcome(path, text)
        finally:
            with open(path) as good, open(self.tree.path(path), 'w') as file:
                file.write(good.read())


def main():
    options = arguments()
    if options.list:
        for _, _, words in sample(options):
            print(words)
        return 0
    alone()
    mutants = Mutants(options)
    chosen = list(sample(options))
    mutants.prepare({path for path, _, _ in chosen})
    counts = dict.fromkeys(('noticed', 'survived', 'refused', 'same'), 0)
    for path, text, words in chosen:
        how, by = mutants.try_one(path, text)
        counts[how] += 1
        print('%s%s: %s' % (how, ' by ' + by if by else '', words if how == 'survived' else words.split('\n')[0]), flush=True)
    tried = counts['noticed'] + counts['survived']
    share = 100 * counts['noticed'] // tried if tried else 100
    print('%d of %d faults were noticed (%d %%); %d more did not compile, %d made the same code' %
          (counts['noticed'], tried, share, counts['refused'], counts['same']))
    return 0 if share >= options.least else 1


if __name__ == '__main__':
    sys.exit(main())
