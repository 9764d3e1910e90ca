"""Fuzzes one reader of readers.py with Atheris: fuzzer.py READER [libFuzzer's arguments]. See tools/fuzz.sh."""

import sys

import atheris

atheris.enabled_hooks.add("RegEx")
with atheris.instrument_imports(include=["readers", "parallel"]):
    import readers


def main() -> None:
    reader = readers.READERS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, lambda content: readers.accepts(reader, content) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
