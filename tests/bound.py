"""libreckon through cffi: the whole public header, from what `cc -E` makes of it. Used by tests/bindings and tests/programs.

    ffi, lib = bound.load(build)
"""
import os
import re
import subprocess

import cffi

from declared import ROOT, headers

CC = os.environ.get("CC", "cc").split()


def declarations():
    """The lines of reckon's own headers, after the preprocessor: no system header, no attribute. What is for compilers
    that know GNU C alone (scopes of regions) is left out."""
    text = subprocess.run(CC + ["-E", "-U__GNUC__", "-I" + os.path.join(ROOT, "include"), "-x", "c", "-"],
                          input=b"#include <reckon/reckon.h>\n", stdout=subprocess.PIPE, check=True).stdout.decode()
    ours, out = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = "/reckon/" in marker.group(1) and marker.group(1).startswith(os.path.join(ROOT, "include"))
        elif ours:
            out.append(line)
    return "\n".join(out)


def load(build):
    ffi = cffi.FFI()
    defines = [f"#define {c.name} {c.value}" for h in headers() for c in h.constants
               if c.enum is None and re.fullmatch(r"(0x[0-9a-fA-F]+|[0-9]+)[ul]*", c.value)]
    ffi.cdef("\n".join(defines) + "\n" + declarations())
    return ffi, ffi.dlopen(os.path.join(os.path.abspath(build), "libreckon.so.0"))
