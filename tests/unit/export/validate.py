#!/usr/bin/env python3
"""validate.py SCHEMA [--lines]: standard input must be JSON as tests/data/schema/SCHEMA.json says.

No key may come twice. Without the jsonschema module only the JSON itself is checked.
"""
import json
import os
import sys


def no_twins(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key comes twice: {keys}"
    return dict(pairs)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../../data/schema", sys.argv[1] + ".json"), encoding="utf-8") as f:
        schema = json.load(f)
    text = sys.stdin.read()
    assert text.endswith("\n"), "no newline at the end"
    parts = text.splitlines() if "--lines" in sys.argv else [text]
    try:
        import jsonschema
        check = jsonschema.Draft202012Validator(schema).iter_errors
    except ImportError:
        def check(_):
            return ()
    for part in parts:
        value = json.loads(part, object_pairs_hook=no_twins)
        for error in check(value):
            sys.exit(f"{sys.argv[1]}: {error.message[:400]} at {list(error.absolute_path)}\n{part[:600]}")


main()
