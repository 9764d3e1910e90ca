"""Example sentences and phrases of the German-English dictionary of package trans-de-en.

An entry is `German :: English`, its forms and examples split by `|` alike on both sides.
"""

import re
from pathlib import Path
from typing import Collection, Iterator

from .pair import Pair

PATH = "usr/share/trans/de-en"
LINES_PER_UNIT = 50
PHRASE_WORDS = 3  # a phrase has at least so many on each side
BRACKETS = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")
# Slots and alternatives of a dictionary entry, which no running text has.
ENTRY_MARKS = re.compile(r"/|\.\.\.|…|\b(?:etw|jdn|jdm|jds|jd|sb|sth|sb's)\.|\bsb\b|\bsth\b")


def read_dictionary(root: Path, sources: Collection[str] = ("ding-sent",)) -> Iterator[Pair]:
    """The pairs of the named sources: ding-sent, ding-phrase."""
    with open(root / PATH, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            if " :: " not in line or line.startswith("#"):
                continue
            unit = str(number // LINES_PER_UNIT)
            german, english = line.rstrip("\n").split(" :: ", 1)
            for de, en in zip(german.split("|"), english.split("|")):
                pair = (plain(en), plain(de))
                source = kind(*pair)
                if source in sources:
                    yield Pair(source, "trans-de-en", f"lines-{unit}", unit, *pair)


def kind(en: str, de: str) -> str:
    if ENTRY_MARKS.search(en) or ENTRY_MARKS.search(de):
        return "entry"
    if is_sentence(en) and is_sentence(de):
        return "ding-sent"
    return "ding-phrase" if min(len(en.split()), len(de.split())) >= PHRASE_WORDS else "word"


def plain(entry: str) -> str:
    """The first alternative, without grammar, field and usage marks."""
    text = BRACKETS.sub(" ", BRACKETS.sub(" ", entry)).split(";")[0]
    return re.sub(r"\s+([.,!?])", r"\1", " ".join(text.split()))


def is_sentence(text: str) -> bool:
    return text[:1].isupper() and text[-1:] in tuple(".!?")
