"""The rules of docs/api.md that are marked ✓, as checks of the public headers. Used by tests/exports.

Each finding is "RULE HEADER NAME", and says what is wrong. What does not keep a rule yet is a line of
tests/rules.known; a line there that nothing needs is a finding too, so that the list can only shrink.
"""
import os
import re

from declared import ROOT, headers

COLUMNS = 110
WIDTHS = r"u?int(8|16|32|64)_t"
# Words that make a reader stop: unavailable, reported, after, created, used are plainer.
PROSE = ("told", "tells", "had", "behind", "born", "believed", "can't be")
# Why a rule does not hold for these, for good.
EXEMPT = {
    "handle rk_region": "a region lives as long as the process: nothing frees it",
    "constant RK_REGION_OFF": "a pointer that C and C++ scopes compare; bindings call rk_region_armed()",
    "object rk_sets_read": "its object is several sets: an array of them",
    "object rk_set_plan": "takes what rk_set_open() takes, and says what that would need",
}


class Rules:
    def __init__(self, found):
        self.headers = found
        self.structs = {s.name: s for h in found for s in h.structs if s.name}
        for h in found:
            for s in h.structs:
                if s.members is not None:
                    self.structs[s.name] = s
        self.handles = {s.name for s in self.structs.values() if s.members is None}
        self.enums = {e.name for h in found for e in h.enums if e.name}
        self.functions = {f.name: f for h in found for f in h.functions}
        self.found = []
        for check in (self.objects, self.constants, self.released, self.pairs, self.words, self.twins, self.results,
                      self.shapes, self.flags, self.order, self.looks):
            check()

    def say(self, rule, item, what, name=None):
        self.found.append((f"{rule} {name or item.name}", f"include/reckon/{item.header}:{item.line}: {what}"))

    def objects(self):
        """The first argument's type, or the second's where the first is what it belongs to (a host, a stream);
        where something is made, its type; of plain functions (rk_stats_holm) the header's name."""
        for f in self.functions.values():
            structs = [p.struct() for p in f.parameters if (p.struct() or "").startswith("rk_") and
                       not re.match(r"ret(_|$)", p.name) and p.struct() not in ("rk_error", "rk_sink")]
            made = [p.struct() for p in f.parameters if re.match(r"ret(_|$)", p.name) and p.struct()]
            if not structs + made or f.name.endswith(("_name", "_text")):
                continue
            of = structs[:2] + made
            if f.parameters[0].type == "uint32_t":  # a value of an enum
                of += [e for e in self.enums if e == f"rk_{f.parameters[0].name}"]
            if not any(s.members is None for h in self.headers if h.name == f.header for s in h.structs):
                of.append("rk_" + os.path.splitext(f.header)[0])
            if not any(f.name == t or f.name.startswith(t + "_") for t in of):
                self.say("object", f, f"{f.name}: the object is the type of the first argument: {', '.join(of)}")

    def constants(self):
        for h in self.headers:
            number = 0
            for c in h.constants:
                if c.enum is None and (c.name == "RK_API" or c.name.endswith("_") or c.name in ("RK_INIT", "RK_REGION")):
                    continue
                if not re.fullmatch(r"RK_[A-Z0-9]+(_[A-Z0-9]+)*", c.name):
                    self.say("constant", c, f"{c.name}: a constant is RK_<NOUN>_<VALUE>")
                noun = (c.enum or "").split("_")[1].upper() if c.enum else None
                if noun and not c.name.startswith(f"RK_{noun}_"):
                    self.say("constant", c, f"{c.name}: a value of enum {c.enum} is RK_{noun}_…")
                literal = re.fullmatch(r"(0x[0-9a-fA-F]+|[0-9]+)(u|ull)?|\"[^\"]*\"", c.value)
                if c.value and not literal or not c.value and c.enum is None:
                    self.say("constant", c, f"{c.name}: one plain literal, not {c.value or 'nothing'}")
                elif c.value and not c.value.startswith('"'):
                    number, suffix = int(literal.group(1), 0), literal.group(2) or ""
                    if number > 0xffffffff and suffix != "ull" or 0x7fffffff < number and not suffix:
                        self.say("constant", c, f"{c.name}: {c.value} needs a suffix that says its width")
                    if c.enum is not None and number > 0x7fffffff:
                        self.say("constant", c, f"{c.name}: {c.value} is no int: a #define")

    def released(self):
        made = {p.struct() for f in self.functions.values() for p in f.parameters
                if re.match(r"ret(_|$)", p.name) and p.type.replace(" ", "").endswith("**") and p.struct()}
        made -= {p.struct() for f in self.functions.values() for p in f.parameters if p.type.startswith("const struct")
                 and p.type.replace(" ", "").endswith("**")}  # rk_stream_next(): a view
        for name in sorted(made | self.handles):
            free = self.functions.get(f"{name}_free")
            if not free or name not in self.structs:
                self.say("handle", self.structs[name], f"struct {name}: no {name}_free()")
            elif free.text != f"struct {name} *{name}_free(struct {name} *{free.first().name})":
                self.say("handle", free, f"{free.name}: takes the handle alone, and returns it")
        for name, f in self.functions.items():
            if name.endswith("_close"):
                self.say("handle", f, f"{name}: a handle is released by _free")

    def pairs(self):
        for name, f in self.functions.items():
            if name.endswith("_count"):
                if f.returns != "size_t":
                    self.say("pair", f, f"{name}: a _count returns size_t, not {f.returns}")
                other = name[:-len("_count")] + "_get"
                if other not in self.functions:
                    self.say("pair", f, f"{name}: no {other}()")
            elif name.endswith("_get"):
                other = name[:-len("_get")] + "_count"
                if other not in self.functions:
                    self.say("pair", f, f"{name}: no {other}()")
                elif f.returns != "int":
                    self.say("pair", f, f"{name}: a _get returns int, not {f.returns}")
                elif f.parameters[-1].name not in ("ret", "e"):
                    self.say("pair", f, f"{name}: a _get ends with ret")

    def words(self):
        for name, f in self.functions.items():
            if name.endswith(("_name", "_text")) and f.returns != "const char *":
                if not (f.returns == "int" and any(p.type == "char *" for p in f.parameters)):
                    self.say("word", f, f"{name}: returns a string, or writes one to a buffer")
            if f.returns == "const char *" and len(f.parameters) == 1 and f.parameters[0].type == "uint32_t" \
                    and f.parameters[0].name != "index":
                of = re.sub(r"_(name|text)$", "", name)
                if of == name or of not in self.enums:
                    self.say("word", f, f"{name}: the word for a value of an enum is rk_<enum>_name(), "
                             "its sentence rk_<enum>_text()")

    def twins(self):
        for name, f in self.functions.items():
            if not any(p.struct() == "rk_sink" for p in f.parameters):
                continue
            if not re.search(r"_export(_pair)?$", name):
                self.say("export", f, f"{name}: what writes to a sink is _export")
            for end in ("_fd", "_path"):
                if name + end not in self.functions:
                    self.say("export", f, f"{name}: no {name}{end}()", name + end)

    def results(self):
        allowed = rf"(int|int64_t|{WIDTHS}|size_t|double|const char \*)"
        for name, f in self.functions.items():
            if name.endswith("_free"):
                continue
            if not re.fullmatch(allowed, f.returns) and not (
                    f.returns.startswith("struct ") and f.returns.endswith("*") and name.startswith("rk_region_")):
                self.say("result", f, f"{name}: returns {f.returns}")
            if f.returns == "size_t" and not name.endswith("_count"):
                self.say("result", f, f"{name}: size_t is what a _count returns")

    def frozen(self, struct):
        return bool(re.search(r"\bFrozen\b", struct.comment))

    def shapes(self):
        for s in self.structs.values():
            if s.union:
                self.say("shape", s, f"union {s.name}")
            if s.members is None:
                continue
            first = s.members[0]
            sized = first.name == "size" and first.type == "uint32_t"
            if not sized and not self.frozen(s):
                self.say("shape", s, f"struct {s.name}: begins with uint32_t size, or its comment says Frozen")
            for m in s.members:
                full = f"{s.name}.{m.name}"
                plain = re.fullmatch(rf"{WIDTHS}|double|size_t|char|unsigned char", m.type)
                inner = re.fullmatch(r"struct (\w+)", m.type)
                if m.bits:
                    self.say("shape", m, f"{full}: a bit-field", full)
                elif inner:
                    if not (inner.group(1) in self.structs and self.frozen(self.structs[inner.group(1)])):
                        self.say("shape", m, f"{full}: a struct inside of another is frozen, or a pointer", full)
                elif m.function or m.type.endswith("*") or m.type.endswith("*const"):
                    if re.search(r"\b(FILE|enum|long|_Bool|bool)\b", m.type):
                        self.say("shape", m, f"{full}: {m.type}", full)
                elif not plain or m.type.endswith("char") and not m.array:
                    self.say("shape", m, f"{full}: {m.type} is no fixed-width integer, double or pointer", full)
                if re.search(r"^(n|num|nr)_|_(count|len|mb|kb|ms|us|usec|nsec)$", m.name) and "*" not in m.type:
                    self.say("unit", m, f"{full}: items are <items>_n, sizes _bytes, times _ns", full)

    def flags(self):
        for s in self.structs.values():
            for m in s.members or []:
                full = f"{s.name}.{m.name}"
                if s.name.endswith(("_options", "_filter")) and m.type == "uint32_t" and \
                        re.match(r"/\*\s*1:", m.comment):
                    self.say("flag", m, f"{full}: yes or no is a bit of `flags`", full)
                if m.name == "flags" and s.name.endswith(("_options", "_filter")) and \
                        not re.search(r"\bRK_\w+_", m.comment):
                    self.say("flag", m, f"{full}: the comment names its bits, RK_<OBJECT>_…", full)
                for word in re.findall(r"\b(RK_[A-Z0-9_]+_)…", m.comment):
                    wide = [c for h in self.headers for c in h.constants
                            if c.name.startswith(word) and c.value.startswith("0x") and
                            int(c.value.rstrip("ul"), 0) > 0xffffffff]
                    if wide and not re.search("64_t", m.type):
                        self.say("flag", m, f"{full}: {wide[0].name} does not fit {m.type}", full)

    def order(self):
        for f in self.functions.values():
            last, after_result = 0, False
            for i, p in enumerate(f.parameters):
                if p.type == "struct rk_error *" and p.name == "e":
                    rank = 4
                elif re.match(r"ret(_|$)", p.name):
                    rank = 3
                elif re.fullmatch(r"const struct rk_\w+_options \*", p.type):
                    rank = 2
                elif after_result and re.fullmatch(r"size_t|uint64_t|uint32_t", p.type) and p.name in ("n", "max"):
                    rank = 3  # how many the result has room for
                elif re.fullmatch(r"char \*", p.type) and p.name in ("buffer", "text") or p.name in ("buffer_bytes",):
                    rank = 3
                elif i and re.fullmatch(r"char \*", f.parameters[i - 1].type):
                    rank = 3
                else:
                    rank = 1 if i else 0
                after_result = rank == 3
                if rank < last:
                    self.say("order", f, f"{f.name}: object, inputs, options, results, error: {p.name}")
                    break
                last = rank
            errors = [p.name for p in f.parameters if p.type == "struct rk_error *"]
            if errors and errors[-1] not in ("e", "ret"):
                self.say("order", f, f"{f.name}: the error is the last argument, `e`")

    def looks(self):
        for h in self.headers:
            for number, line in enumerate(h.text.split("\n"), 1):
                if len(line) > COLUMNS:
                    self.found.append((f"long {h.name}", f"include/reckon/{h.name}:{number}: {len(line)} columns"))
            for item in h.constants + [m for s in h.structs for m in s.members or []]:
                if item.lines > 1 and not getattr(item, "arguments", False) and not getattr(item, "function", False):
                    self.found.append((f"torn {h.name}",
                                       f"include/reckon/{h.name}:{item.line}: {item.name}: torn by its comment"))
                elif item.tail > 1:
                    self.found.append((f"torn {h.name}", f"include/reckon/{h.name}:{item.line}: {item.name}: "
                                       "a comment behind a declaration is a few words: what defines stands above"))
            for first, last in h.comments:
                comment = h.text[first:last]
                for word in re.finditer(r"\b(" + "|".join(PROSE) + r")\b", comment):
                    self.found.append((f"prose {h.name}", f"include/reckon/{h.name}:{h.line(first + word.start())}: "
                                       f"\"{word.group(0)}\": say it in plainer words"))


def known(path):
    with open(path, encoding="utf-8") as f:
        return [line.split("#")[0].strip() for line in f if line.split("#")[0].strip()]


def check(root=ROOT, listed=None):
    """→ what is wrong: a finding that is not listed, and a line of the list that nothing needs"""
    rules = Rules(headers(root))
    if listed is None:
        listed = known(os.path.join(root, "tests", "rules.known"))
    keys = {key for key, _ in rules.found}
    wrong = [f"{what} [{key}]" for key, what in rules.found if key not in listed and key not in EXEMPT]
    wrong += [f"tests/rules.known: \"{key}\" is kept by now: take the line out" for key in listed if key not in keys]
    wrong += [f"tests/rules.py: EXEMPT: {key} is kept" for key in EXEMPT if key not in keys and root == ROOT]
    return wrong, len(listed)


# What the rules must find, and nothing else: a header of each kind of mistake, beside a good one.
GOOD = """/* good.h: a sentence. */
#define RK_GOOD_ONE 0x01u /* a bit */
#define RK_GOOD_WIDE 0x100000000ull
struct rk_good;
struct rk_sink {
    uint32_t size;
};
enum rk_taste {
    RK_TASTE_SWEET, /* as sugar */
    RK_TASTE_SOUR = 7,
};
RK_API const char *rk_taste_name(uint32_t taste);
struct rk_good_options {
    uint32_t size;
    uint32_t flags; /* RK_GOOD_ONE: one bit */
    uint64_t taste_ns, all; /* RK_GOOD_… */
    void (*each)(void *context, uint32_t one);
    char what[128];
};
/* One. Frozen. */
struct rk_bite {
    double weight;
    const char *const *words;
    size_t words_n;
};
RK_API int rk_good_open(const struct rk_good_options *options, struct rk_good **ret, struct rk_error *e);
RK_API struct rk_good *rk_good_free(struct rk_good *good);
RK_API size_t rk_good_bite_count(const struct rk_good *good);
RK_API int rk_good_bite_get(const struct rk_good *good, size_t index, struct rk_bite *ret);
RK_API int rk_good_export(const struct rk_good *good, const struct rk_sink *sink, struct rk_error *e);
RK_API int rk_good_export_fd(const struct rk_good *good, int fd, struct rk_error *e);
RK_API int rk_good_export_path(const struct rk_good *good, const char *path, struct rk_error *e);
RK_API int rk_good_read(struct rk_good *good, struct rk_bite *ret, size_t n);
"""
BAD = [  # what is written, instead of what (None: behind the rest), which finding that must be
    ("RK_API int rk_fine_read(struct rk_good *good, struct rk_bite *ret, size_t n);", None, "object rk_fine_read"),
    ("#define GOOD_TWO 2\n", None, "constant GOOD_TWO"),
    ("#define RK_GOOD_TWO (1u << 1)\n", None, "constant RK_GOOD_TWO"),
    ("#define RK_GOOD_TWO 0x100000000\n", None, "constant RK_GOOD_TWO"),
    ("#define RK_GOOD_TWO 4294967295\n", None, "constant RK_GOOD_TWO"),
    ("#define RK_GOOD_TWO\n", None, "constant RK_GOOD_TWO"),
    ("RK_SALT_SOUR = 7", "RK_TASTE_SOUR = 7", "constant RK_SALT_SOUR"),
    ("RK_TASTE_SOUR = 1 << 3", "RK_TASTE_SOUR = 7", "constant RK_TASTE_SOUR"),
    ("RK_TASTE_SOUR = 0xffffffffu", "RK_TASTE_SOUR = 7", "constant RK_TASTE_SOUR"),
    ("struct rk_other;", None, "handle rk_other"),
    ("RK_API int rk_good_free(struct rk_good *good);", "RK_API struct rk_good *rk_good_free(struct rk_good *good);",
     "handle rk_good_free"),
    ("RK_API int rk_good_close(struct rk_good *good);", None, "handle rk_good_close"),
    ("RK_API int rk_good_bite_count(", "RK_API size_t rk_good_bite_count(", "pair rk_good_bite_count"),
    ("RK_API size_t rk_good_crumb_count(const struct rk_good *good);", None, "pair rk_good_crumb_count"),
    ("RK_API int rk_good_crumb_get(const struct rk_good *good, size_t index, struct rk_bite *ret);", None,
     "pair rk_good_crumb_get"),
    ("RK_API int64_t rk_good_bite_get(", "RK_API int rk_good_bite_get(", "pair rk_good_bite_get"),
    ("RK_API const char *rk_taste_word(", "RK_API const char *rk_taste_name(", "word rk_taste_word"),
    ("RK_API int rk_good_name(struct rk_good *good);", None, "word rk_good_name"),
    ("", "RK_API int rk_good_export_fd(const struct rk_good *good, int fd, struct rk_error *e);",
     "export rk_good_export_fd"),
    ("RK_API int rk_good_write(struct rk_good *good, const struct rk_sink *sink);\n"
     "RK_API int rk_good_write_fd(struct rk_good *good);\nRK_API int rk_good_write_path(struct rk_good *good);", None,
     "export rk_good_write"),
    ("RK_API void rk_good_eat(struct rk_good *good);", None, "result rk_good_eat"),
    ("RK_API size_t rk_good_length(struct rk_good *good);", None, "result rk_good_length"),
    ("/* One. */", "/* One. Frozen. */", "shape rk_bite"),
    ("uint64_t size;", "uint32_t size;\n    uint32_t flags;", "shape rk_good_options"),
    ("uint32_t fast : 1;", "double weight;", "shape rk_bite.fast"),
    ("enum rk_taste taste;", "double weight;", "shape rk_bite.taste"),
    ("long weight;", "double weight;", "shape rk_bite.weight"),
    ("FILE *weight;", "double weight;", "shape rk_bite.weight"),
    ("int weight;", "double weight;", "shape rk_bite.weight"),
    ("struct rk_sink sink;", "double weight;", "shape rk_bite.sink"),
    ("union rk_both {\n    uint32_t size;\n};", None, "shape rk_both"),
    ("uint32_t n_words;", "size_t words_n;", "unit rk_bite.n_words"),
    ("uint32_t fast; /* 1: faster */", "uint64_t taste_ns, all; /* RK_GOOD_… */", "flag rk_good_options.fast"),
    ("uint32_t flags; /* bits */", "uint32_t flags; /* RK_GOOD_ONE: one bit */", "flag rk_good_options.flags"),
    ("uint32_t all; /* RK_GOOD_… */", "uint64_t taste_ns, all; /* RK_GOOD_… */", "flag rk_good_options.all"),
    ("RK_API int rk_good_turn(struct rk_good *good, struct rk_error *e, uint32_t by);", None, "order rk_good_turn"),
    ("RK_API int rk_good_turn(struct rk_good *good, uint32_t *ret, uint32_t by);", None, "order rk_good_turn"),
    ("RK_API int rk_good_turn(struct rk_good *good, const struct rk_good_options *options, uint32_t by);", None,
     "order rk_good_turn"),
    ("RK_API int rk_good_turn(struct rk_good *good, struct rk_error *problem);", None, "order rk_good_turn"),
    ("/* " + "x" * 120 + " */", None, "long good.h"),
    ("double\n        weight; /* how much */", "double weight;", "torn good.h"),
    ("double weight; /* how\n much */", "double weight;", "torn good.h"),
    ("RK_TASTE_SOUR =\n    7", "RK_TASTE_SOUR = 7", "torn good.h"),
    ("/* What can't be is not told. */", "/* good.h: a sentence. */", "prose good.h"),
    ("/* A thread\n * that was born */", "/* good.h: a sentence. */", "prose good.h"),
]


def self_test():
    from declared import Header
    wrong = []

    def found(text):
        return {key for key, _ in Rules([Header("good.h", text)]).found} - {"handle rk_sink"}

    for key in sorted(found(GOOD)):
        wrong.append(f"the good header: {key}")
    for text, instead, key in BAD:
        if instead and instead not in GOOD:
            wrong.append(f"the good header has no {instead!r}")
        got = found(GOOD.replace(instead, text) if instead else GOOD + text + "\n")
        if key not in got or len(got) > 1:
            wrong.append(f"{text!r}: wanted '{key}', got {sorted(got)}")
    for text in ("RK_API int rk_good_odd(int);", "typedef int rk_odd;", "struct rk_odd { int a;", "int x"):
        try:
            found(GOOD + text + "\n")
            wrong.append(f"{text!r} is read")
        except SyntaxError:
            pass
    return wrong, len(BAD)
