"""Reads the man pages of man/: names, synopsis, examples. Used by tests/man-examples and tests/exports.

Pages are written in mdoc(7). An example is a literal block with a comment before it that says what it is:

    .\\" example c         a whole C program: is compiled and linked
    .\\" example c run     ... and run; must exit 0
    .\\" example sh        shell commands: `sh -n` must take them
    .\\" example sh run    ... and run in an empty directory with reckon in PATH; must exit 0
    .\\" example sh shown  ... and what they print stands below each: reckon-cookbook(7), by tests/cookbook
    .\\" example text      output or a file, for reading only
    .Bd -literal -offset indent
    ...
    .Ed
"""
import re

KINDS = ("c", "c run", "sh", "sh run", "sh shown", "text")
ESCAPES = ((r"\(aq", "'"), (r"\(dq", '"'), (r"\-", "-"), (r"\(ti", "~"), (r"\(ha", "^"), (r"\(ga", "`"), (r"\&", ""),
           (r"\e", "\\"))


def plain(line):
    """roff text → the characters a reader sees"""
    if line.startswith(r"\&"):
        line = line[2:]
    for escape, is_ in ESCAPES:
        line = line.replace(escape, is_)
    return line


def roff(line):
    """the other way"""
    line = line.replace("\\", r"\e")
    for is_, escape in (("-", r"\-"), ("'", r"\(aq"), ("~", r"\(ti"), ("^", r"\(ha"), ("`", r"\(ga")):
        line = line.replace(is_, escape)
    return r"\&" + line if line.startswith(".") else line


def words(rest):
    """mdoc arguments, quoted or not"""
    return [plain(a if a else b) for a, b in re.findall(r'"([^"]*)"|(\S+)', rest)]


class Page:
    def __init__(self, path):
        self.path = path
        self.names = []       # of NAME
        self.prototypes = []  # (line, name, "int rk_x(void);") of SYNOPSIS
        self.examples = []    # (line, kind, text)
        self.sections = []
        self.wrong = []
        with open(path, encoding="utf-8") as f:
            self.lines = f.read().split("\n")
        self.read()

    def complain(self, number, what):
        self.wrong.append(f"{self.path}:{number}: {what}")

    def read(self):
        section, returns, call, kind, block = "", "", None, None, None
        for number, line in enumerate(self.lines, 1):
            if block is not None:
                if re.match(r"\.(Ed|EE|fi)\b", line):
                    self.examples.append((block[0], kind, "\n".join(block[1]) + "\n"))
                    block = kind = None
                else:
                    block[1].append(plain(line))
                continue
            marker = re.match(r'\.\\" example (.*)$', line)
            if marker:
                kind = marker.group(1).strip()
                if kind not in KINDS:
                    self.complain(number, f"an example is one of: {', '.join(KINDS)}")
                continue
            request = re.match(r"\.(\w+)\s*(.*)$", line)
            if not request:
                continue
            name, rest = request.groups()
            if name in ("Sh", "SH"):
                section = " ".join(words(rest))
                self.sections.append(section)
            elif section == "NAME" and name == "Nm":
                self.names += [w for w in words(rest) if w != ","]
            elif name == "Bd" and rest.startswith("-literal") or name in ("EX", "nf"):
                if kind:
                    block = (number, [])
                elif section == "EXAMPLES":
                    self.complain(number, 'no .\\" example line before this block')
            elif section == "SYNOPSIS" and name == "Ft":
                returns = " ".join(words(rest))
            elif section == "SYNOPSIS" and name == "Fn":
                function, *arguments = words(rest)
                self.prototype(number, returns, function, arguments)
            elif section == "SYNOPSIS" and name == "Fo":
                call = (number, words(rest)[0], [])
            elif section == "SYNOPSIS" and name == "Fa" and call:
                call[2].extend(words(rest))
            elif section == "SYNOPSIS" and name == "Fc" and call:
                self.prototype(call[0], returns, call[1], call[2])
                call = None

    def prototype(self, number, returns, function, arguments):
        text = f"{returns} {function}({', '.join(arguments)});"
        self.prototypes.append((number, function, text.replace("* ", "*")))
