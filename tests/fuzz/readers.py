"""The readers of tools/data that take files from a stranger, each as a function of the file's bytes: see targets.h.

One may refuse what it reads by ToolError; whatever else comes of it is a finding.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "data"))

from parallel.catalogs import message_pairs, read_mo  # noqa: E402
from parallel.pair import ToolError  # noqa: E402
from parallel.sgm import check_same_segments, read_sgm  # noqa: E402


def sgm(content: bytes) -> None:
    segments = read_sgm(content.decode("utf-8", "replace"), "test.sgm")
    check_same_segments(segments, segments, "test.sgm", "test.sgm")
    for _, _, text in segments:
        promise(len(text.encode("utf-8").splitlines()) <= 1, "a segment is a line")


def catalog(content: bytes) -> None:
    found = read_mo(content, "de.mo")
    # A byte that is not UTF-8 becomes a character of three.
    promise(sum(len(text.encode("utf-8")) for pair in found for text in pair) <= 3 * len(content),
            "texts are no larger than their file")
    for message, translation in found:
        for pair in message_pairs(message, translation):
            promise(all(len(text.encode("utf-8").splitlines()) == 1 for text in pair), "a sentence is a line")


READERS = {"sgm": sgm, "catalog": catalog}


def promise(kept: bool, what: str) -> None:
    if not kept:
        raise AssertionError(what)


def accepts(reader, content: bytes) -> bool:
    """Whether the reader took the bytes. Lets everything through that is no refusal."""
    try:
        reader(content)
        return True
    except ToolError:
        return False
