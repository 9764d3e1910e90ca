"""Example sentences of the German-English dictionary of package trans-de-en: `German :: English`, variants split by `|`."""

import re
from pathlib import Path
from typing import Iterator

from .pair import Pair

PATH = "usr/share/trans/de-en"
LINES_PER_UNIT = 50
BRACKETS = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")
# Slots and alternatives of a dictionary entry, which no running text has.
ENTRY_MARKS = re.compile(r"/|\.\.\.|…|\b(?:etw|jdn|jdm|jds|jd|sb|sth|sb's)\.|\bsb\b|\bsth\b")


def read_dictionary(root: Path) -> Iterator[Pair]:
    with open(root / PATH, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            if " :: " not in line or line.startswith("#"):
                continue
            unit = str(number // LINES_PER_UNIT)
            german, english = line.rstrip("\n").split(" :: ", 1)
            for de, en in zip(german.split("|"), english.split("|")):
                pair = (plain(en), plain(de))
                if all(is_sentence(text) for text in pair):
                    yield Pair("ding-sent", "trans-de-en", f"lines-{unit}", unit, *pair)


def plain(entry: str) -> str:
    """The first alternative, without grammar, field and usage marks."""
    text = BRACKETS.sub(" ", BRACKETS.sub(" ", entry)).split(";")[0]
    return re.sub(r"\s+([.,!?])", r"\1", " ".join(text.split()))


def is_sentence(text: str) -> bool:
    return text[:1].isupper() and text[-1:] in ".!?" and not ENTRY_MARKS.search(text)
