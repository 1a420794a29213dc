# SPDX-License-Identifier: MIT
"""faults.py - make small faults in C text, one at a time.

The sources are formatted by clang-format, so a line is enough to know an operator from a pointer or
an include: binary operators have a space on both sides, unary ones have not.  A fault changes one
line and keeps the number of lines.
"""
import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    path: str
    line: int  # from 0
    kind: str
    old: str  # the line
    new: str

    def order(self, seed):
        """Where the fault stands in the sample of this seed, also when lines around it change."""
        return hashlib.sha256('\0'.join((seed, self.path, self.kind, self.old, self.new)).encode()).hexdigest()

    def tell(self):
        return '%s:%d: %s\n-%s\n+%s' % (self.path, self.line + 1, self.kind, self.old, self.new)

    def apply(self, text):
        lines = text.split('\n')
        if lines[self.line] != self.old:
            raise ValueError('%s has changed' % self.path)
        lines[self.line] = self.new
        return '\n'.join(lines)


# kind, what is found, what comes in its place
EXCHANGES = [
    ('comparison', r' < ', ' <= '), ('comparison', r' <= ', ' < '),
    ('comparison', r' > ', ' >= '), ('comparison', r' >= ', ' > '),
    ('comparison', r' == ', ' != '), ('comparison', r' != ', ' == '),
    ('sign', r' \+ ', ' - '), ('sign', r' - ', ' + '), ('sign', r' \+= ', ' -= '), ('sign', r' -= ', ' += '),
    ('sign', r'\+\+', '--'), ('sign', r'(?<!-)--(?!-)', '++'),
    ('logic', r' && ', ' || '), ('logic', r' \|\| ', ' && '),
    ('logic', r'\btrue\b', 'false'), ('logic', r'\bfalse\b', 'true'),
    ('bits', r' \| (?!\|)', ' & '), ('bits', r' & (?!&)', ' | '), ('bits', r' << ', ' >> '), ('bits', r' >> ', ' << '),
    ('negation', r'(?<=\bif \()(.+)(?=\)( \{)?$)', lambda match: '!(%s)' % match.group()),
    ('negation', r'(?<=\breturn )[^;]*(?: && | \|\| | == | != | < | > )[^;]*(?=;$)', lambda match: '!(%s)' % match.group()),
    ('constant', r'(?<![\w.])[1-9]\d*(?=[uUlL]*\b(?!\.))', lambda match: str(2 * int(match.group()))),
    ('constant', r'(?<![\w.])[A-Z]\w*_(?:NS|MS|US|S|SLOTS|MOST|BYTES)\b', lambda match: '(2 * %s)' % match.group()),
    ('exchange', r'(?<=\()(\*?[a-z][\w.>-]*), (\*?[a-z][\w.>-]*)(?=[,)])', r'\2, \1'),
    ('exchange', r'(?<=, )(\*?[a-z][\w.>-]*), (\*?[a-z][\w.>-]*)(?=[,)])', r'\2, \1'),
]
EXCHANGES = [(kind, re.compile(pattern), new) for kind, pattern, new in EXCHANGES]

STATEMENT = re.compile(r'^\t+((?:[\w.>*\[\]-]+|\(\*\w+\)) (?:[-+|&^]|<<|>>)?= .*;|[a-z_]\w*\(.*\);|\(void\)\w+\(.*\);|[\w.>-]+(?:\+\+|--);)$')

# What is no behaviour of its own: words for people, and claims for the compiler.
LEFT_ALONE = re.compile(r'^\s*(#|/?\*|static_assert|_Static_assert|assert\(|(?:log|say|warn)_\w*\(|case |default:|goto )|^(?:static |const |extern |struct )*[a-z]\w* \**\w+\(')


def blank(line):
    """The line with its strings, character constants and comments blanked out, of the same length."""
    def fill(match):
        return '\a' * len(match.group(0))
    return re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|/\*.*?\*/|//.*$', fill, line)


def bodies(lines):
    """Numbers of the lines of functions and tables: below a line that begins with no space."""
    comment = False
    inside = False
    for number, line in enumerate(lines):
        if comment:
            comment = '*/' not in line
            continue
        if line.lstrip().startswith('/*') and '*/' not in line:
            comment = True
            continue
        if line in ('{', '}', '};') or not line.strip():
            inside = line == '{' if line.strip() else inside
            continue
        if line.endswith('= {') and not line.startswith('\t'):
            inside = True
            continue
        if inside and line.startswith('\t') and not LEFT_ALONE.match(line):
            yield number


def of_line(path, number, line):
    """Every fault of a line."""
    code = blank(line)
    found = []
    for kind, pattern, new in EXCHANGES:
        for match in pattern.finditer(code):
            put = new(match) if callable(new) else match.expand(new)
            changed = line[:match.start()] + put + line[match.end():]
            if '\a' not in put:
                found.append(Fault(path, number, kind, line, changed))
    if STATEMENT.match(code) and code.count('(') == code.count(')'):
        found.append(Fault(path, number, 'removal', line, re.sub(r'^(\t+).*', r'\1;', line)))
    return found


def of_text(path, text):
    """Every fault of a file."""
    lines = text.split('\n')
    return [fault for number in bodies(lines) for fault in of_line(path, number, lines[number])]
