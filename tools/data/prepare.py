#!/usr/bin/env python3
"""Brings parallel text that you have (plain, .gz or WMT's .sgm) into the form that configs name: OUT/PART.en, OUT/PART.de.

Lines are not changed, except that .sgm entities are resolved: cleaning is the program's own work. A pair of files
must have equally many lines; nothing is written unless all is well.
"""

import argparse
import gzip
import os
import sys
import tempfile
import zlib
from pathlib import Path
from typing import BinaryIO, Iterator, List, Tuple

from parallel.pair import ToolError
from parallel.sgm import check_same_segments, read_sgm

EXAMPLE = """example, WMT14 English-German (files as unpacked from the training and dev/test archives):
  tools/data/prepare.py --out data/wmt14 \\
    --train europarl-v7.de-en.en europarl-v7.de-en.de \\
    --train commoncrawl.de-en.en commoncrawl.de-en.de \\
    --train news-commentary-v9.de-en.en news-commentary-v9.de-en.de \\
    --valid dev/newstest2013-src.en.sgm dev/newstest2013-ref.de.sgm \\
    --test test/newstest2014-deen-src.en.sgm test/newstest2014-deen-ref.de.sgm
"""
LONGEST_LINE = 64 << 20  # bytes; the program takes no longer ones either
MOST_SGM = 256 << 20
PARTS = ("train", "valid", "test")


def parse_arguments(words: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write into; made if need be")
    parser.add_argument("--languages", default="en-de", help="endings of the written files (default: en-de)")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    for part in PARTS:
        parser.add_argument(f"--{part}", nargs=2, type=Path, action="append", default=[], metavar=("SOURCE", "TARGET"),
                            help=f"a pair of files for OUT/{part}.*; give it again to append more")
    arguments = parser.parse_args(words)
    if not any(getattr(arguments, part) for part in PARTS):
        parser.error("nothing to do: give --train, --valid or --test")
    if arguments.languages.count("-") != 1 or not all(arguments.languages.split("-")):
        parser.error(f"--languages: expected two codes as in en-de, got '{arguments.languages}'")
    return arguments


def main(words: List[str]) -> int:
    arguments = parse_arguments(words)
    try:
        prepare(arguments)
    except (ToolError, OSError) as error:
        print(f"prepare.py: {error}", file=sys.stderr)
        return 2
    return 0


def prepare(arguments: argparse.Namespace) -> None:
    """Writes every part beside its place, and renames them only when all are good."""
    source, target = arguments.languages.split("-")
    wanted = [(part, getattr(arguments, part)) for part in PARTS if getattr(arguments, part)]
    places = [arguments.out / f"{part}.{language}" for part, _ in wanted for language in (source, target)]
    for place in places:
        if place.exists() and not arguments.force:
            raise ToolError(f"{place}: already there; --force replaces it")
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".prepare.", dir=arguments.out) as folder:
        for part, pairs in wanted:
            write_part(Path(folder), arguments.out, part, (source, target), pairs)
        for place in places:
            os.replace(Path(folder) / place.name, place)


def write_part(folder: Path, out: Path, part: str, languages: Tuple[str, str], pairs: List[Tuple[Path, Path]]) -> None:
    total = 0
    with open(folder / f"{part}.{languages[0]}", "wb") as source, open(folder / f"{part}.{languages[1]}", "wb") as target:
        for pair in pairs:
            count = append_pair(*pair, source, target)
            print(f"read {count} pairs from {pair[0]} and {pair[1]}", file=sys.stderr)
            total += count
    print(f"{out / part}.{languages[0]} and .{languages[1]}: {total} pairs")


def append_pair(source: Path, target: Path, source_out: BinaryIO, target_out: BinaryIO) -> int:
    """How many lines each of the two files had."""
    if is_sgm(source) and is_sgm(target):
        segments = [read_sgm(read_text(path), str(path)) for path in (source, target)]
        check_same_segments(*segments, str(source), str(target))
    counts = [copy_lines(path, out) for path, out in ((source, source_out), (target, target_out))]
    if counts[0] != counts[1]:
        raise ToolError(f"{source} has {counts[0]} lines and {target} has {counts[1]}; expected equally many")
    return counts[0]


def is_sgm(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith((".sgm", ".sgml"))


def copy_lines(path: Path, out: BinaryIO) -> int:
    count = 0
    for line in lines_of(path):
        out.write(line + b"\n")
        count += 1
    return count


def lines_of(path: Path) -> Iterator[bytes]:
    """The file's lines without their ends (\\n or \\r\\n; other line separators are part of a line)."""
    if is_sgm(path):
        yield from (segment.encode("utf-8") for _, _, segment in read_sgm(read_text(path), str(path)))
    else:
        yield from (line.rstrip(b"\r\n") for line in read_bytes(path))


def read_text(path: Path) -> str:
    content = bytearray()
    for line in read_bytes(path):
        content += line
        if len(content) > MOST_SGM:
            raise ToolError(f"{path}: expected a test set of at most {MOST_SGM} bytes; it has more")
    return content.decode("utf-8", "replace")


def read_bytes(path: Path) -> Iterator[bytes]:
    """Lines with their ends, of a plain or gzip file."""
    try:
        with gzip.open(path, "rb") if path.name.endswith(".gz") else open(path, "rb") as file:
            while line := file.readline(LONGEST_LINE + 1):  # a few bytes of gzip can stand for any number
                if len(line) > LONGEST_LINE:
                    raise ToolError(f"{path}: expected lines of at most {LONGEST_LINE} bytes; one has more")
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ToolError(f"{path}: not a whole gzip file ({error}); copy or download it again") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
