"""Reads the public headers: every function, struct, enum and constant with its comment and its lines.
Used by tests/exports, tests/refuses and tests/bindings.

It knows the C that these headers are written in, not all of C. What it can't read is an error, never left out.
"""
import dataclasses
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclasses.dataclass
class Item:
    header: str         # "set.h"
    line: int           # of its first word
    name: str
    comment: str = ""   # above it, and behind it on its last line
    lines: int = 1      # that the declaration takes
    tail: int = 0       # lines of the comment behind it


@dataclasses.dataclass
class Constant(Item):
    value: str = ""     # as it is written; "" for an enumerator that counts on
    enum: str = None    # the tag of its enum, "" without one; None: a #define
    arguments: bool = False  # a macro with arguments


@dataclasses.dataclass
class Member(Item):
    type: str = ""      # "const char *"
    array: str = ""     # "[128]"
    bits: bool = False
    function: bool = False


@dataclasses.dataclass
class Struct(Item):
    members: list = None   # None: opaque
    union: bool = False


@dataclasses.dataclass
class Parameter:
    type: str
    name: str

    def struct(self):
        """"rk_set" of "const struct rk_set *", else None"""
        found = re.search(r"\bstruct (\w+)", self.type)
        return found.group(1) if found else None


@dataclasses.dataclass
class Function(Item):
    returns: str = ""
    parameters: list = None
    text: str = ""

    def first(self):
        return self.parameters[0] if self.parameters else Parameter("void", "")


class Header:
    def __init__(self, name, text):
        self.name, self.text = name, text
        self.constants, self.structs, self.functions, self.enums = [], [], [], []
        self.comments = []  # (start, end) in text
        self.blank()
        self.defines()
        self.walk()

    def complain(self, at, what):
        raise SyntaxError(f"{self.name}:{self.line(at)}: {what}")

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def blank(self):
        """text → code of the same length, its comments spaces"""
        code = []
        at = 0
        for found in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', self.text, re.S):
            if found.group(0)[0] == '"':
                continue
            self.comments.append((found.start(), found.end()))
            code.append(self.text[at:found.start()])
            code.append(re.sub(r"[^\n]", " ", found.group(0)))
            at = found.end()
        self.code = "".join(code) + self.text[at:]

    def around(self, start, end):
        """→ the comment above, and behind on the last line; how many lines the latter takes"""
        above, behind, tail = "", "", 0
        for first, last in self.comments:
            between = self.text[last:start]
            if last <= start and between.count("\n") <= 1 and not between.strip() and \
                    not self.text[self.text.rfind("\n", 0, first) + 1:first].strip():
                above = self.text[first:last]
            elif first >= end and not self.text[end:first].strip(" \t,;{") and "\n" not in self.text[end:first]:
                behind = self.text[first:last]
                tail = behind.count("\n") + 1
        return (above + "\n" + behind).strip(), tail

    def defines(self):
        code = self.code
        out = []
        at = 0
        for found in re.finditer(r"^[ \t]*#[ \t]*(\w+)((?:[^\n\\]|\\\n|\\.)*)", code, re.M):
            word, rest = found.group(1), found.group(2)
            if word == "define":
                parts = re.match(r"\s*(\w+)(\([^)]*\))?\s*(.*)$", rest, re.S)
                name, arguments, value = parts.groups()
                if not name.endswith("_H"):
                    comment, tail = self.around(found.start(), found.start() + len(found.group(0).rstrip()))
                    self.constants.append(Constant(self.name, self.line(found.start()), name, comment,
                                                   rest.count("\n") + 1, tail, " ".join(value.split()), None,
                                                   bool(arguments)))
            out.append(code[at:found.start()])
            out.append(re.sub(r"[^\n]", " ", found.group(0)))
            at = found.end()
        self.code = "".join(out) + code[at:]

    def walk(self):
        """Declarations at the top, one after the other"""
        code = self.code
        at = 0
        while True:
            found = re.compile(r"\S").search(code, at)
            if not found:
                return
            start = found.start()
            opening = re.compile(r'extern\s+"C"\s*\{').match(code, start)
            if opening or code[start] == "}":
                at = opening.end() if opening else start + 1
                continue
            at = self.declaration(start)

    def closing(self, at):
        depth = 0
        for i in range(at, len(self.code)):
            depth += {"{": 1, "}": -1}.get(self.code[i], 0)
            if not depth:
                return i
        return self.complain(at, "a brace that nothing closes")

    def declaration(self, start):
        code = self.code
        semicolon, brace = code.find(";", start), code.find("{", start)
        if brace != -1 and brace < semicolon or semicolon == -1 and brace != -1:
            end = self.closing(brace)
            head = " ".join(code[start:brace].split())
            if re.match(r"(static inline|namespace|class)\b", head):  # for C and C++ programs alone
                if head.startswith("class"):
                    return code.index(";", end) + 1
                return end + 1
            stop = code.index(";", end) + 1
            if code[end + 1:stop - 1].strip():
                self.complain(end, "a name behind a closing brace")
            kind = re.fullmatch(r"(struct|union|enum)(?: (\w+))?", head)
            if not kind:
                self.complain(start, f"can't read: {head}")
            comment, tail = self.around(start, brace)
            if kind.group(1) == "enum":
                self.enums.append(Item(self.name, self.line(start), kind.group(2) or "", comment))
                self.enumerators(kind.group(2) or "", brace + 1, end)
            else:
                self.structs.append(Struct(self.name, self.line(start), kind.group(2), comment, 1, tail,
                                           self.members(brace + 1, end), kind.group(1) == "union"))
            return stop
        if semicolon == -1:
            self.complain(start, "a declaration that does not end")
        text = " ".join(code[start:semicolon].split())
        comment, tail = self.around(start, semicolon + 1)
        lines = code.count("\n", start, semicolon) + 1
        opaque = re.fullmatch(r"struct (\w+)", text)
        function = re.fullmatch(r"RK_API (.*?)(\w+)\((.*)\)", text)
        if opaque:
            self.structs.append(Struct(self.name, self.line(start), opaque.group(1), comment, lines, tail, None))
        elif function:
            self.functions.append(Function(self.name, self.line(start), function.group(2), comment, lines, tail,
                                           function.group(1).strip(), self.parameters(start, function.group(3)),
                                           text[len("RK_API "):]))
        else:
            self.complain(start, f"can't read: {text}")
        return semicolon + 1

    def parameters(self, start, text):
        if text.strip() in ("void", ""):
            return []
        out = []
        for part in re.split(r",(?![^(]*\))", text):
            found = re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*(\[\])?\s*", part)
            if not found:
                self.complain(start, f"a parameter without a name: {part}")
            out.append(Parameter(found.group(1).strip() + (" *" if found.group(3) else ""), found.group(2)))
        return out

    def enumerators(self, tag, start, end):
        for found in re.finditer(r"[^,]*[^,\s][^,]*", self.code[start:end]):
            text = found.group(0)
            first = start + found.start() + len(text) - len(text.lstrip())
            last = start + found.start() + len(text.rstrip())
            parts = re.fullmatch(r"(\w+)(?:\s*=\s*(.*))?", text.strip(), re.S)
            if not parts:
                self.complain(first, f"can't read: {text}")
            comment, tail = self.around(first, last)
            self.constants.append(Constant(self.name, self.line(first), parts.group(1), comment,
                                           text.strip().count("\n") + 1, tail, (parts.group(2) or "").strip(), tag))

    def members(self, start, end):
        out = []
        at = start
        while self.code[at:end].strip():
            stop = at
            depth = 0
            while self.code[stop] != ";" or depth:
                depth += {"{": 1, "}": -1}.get(self.code[stop], 0)
                stop += 1
                if stop >= end:
                    self.complain(at, "a member that does not end")
            text = self.code[at:stop]
            first = at + len(text) - len(text.lstrip())
            comment, tail = self.around(first, stop + 1)
            lines = text.strip().count("\n") + 1
            text = " ".join(text.split())
            base = dict(header=self.name, line=self.line(first), comment=comment, lines=lines, tail=tail)
            pointer = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", text)
            if pointer:
                out.append(Member(name=pointer.group(2), type=text, function=True, **base))
            else:
                parts = text.split(",")
                found = re.fullmatch(r"(.+?[\s*])(\w+\s*(?:\[\w+\])*\s*(?::\s*\d+)?)", parts[0])
                if not found:
                    self.complain(first, f"can't read: {text}")
                base_type, stars = re.fullmatch(r"(.*?)((?:\*\s*(?:const\s*)?)*)", found.group(1).strip()).groups()
                for part in [stars + found.group(2)] + parts[1:]:
                    one = re.fullmatch(r"\s*((?:\*\s*(?:const\s*)?)*)(\w+)\s*((?:\[\w+\])*)\s*(:\s*\d+)?", part)
                    if not one:
                        self.complain(first, f"can't read: {text}")
                    out.append(Member(name=one.group(2), type=(base_type.strip() + " " + one.group(1).strip()).strip(),
                                      array=one.group(3), bits=bool(one.group(4)), **base))
            at = stop + 1
        return out


def headers(root=ROOT):
    out = []
    for path in sorted(glob.glob(os.path.join(root, "include", "reckon", "*.h"))):
        if os.path.basename(path) != "reckon.h":  # it includes the others
            with open(path, encoding="utf-8") as f:
                out.append(Header(os.path.basename(path), f.read()))
    return out
