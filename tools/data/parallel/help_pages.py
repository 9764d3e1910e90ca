"""LibreOffice's help pages: the same page in both languages, paragraphs and headings joined by their `id`."""

import re
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from .align import sentence_pairs
from .entities import unescape
from .pair import Pair
from .sentences import split_sentences

FOLDER = "usr/share/libreoffice/help"
START = '<div id="DisplayArea"'
END = '<div id="SearchFrame"'
ELEMENT = re.compile(r'<(p|h[1-6])\b[^>]*?\bid="([^"]+)"[^>]*>(.*?)</\1>', re.S)
TAG = re.compile(r"(<[^>]*>)")
SYSTEM_OR_PROGRAM = re.compile(r'\bclass="([A-Z]+)"')


def read_help(english_root: Path, german_root: Path) -> Iterator[Pair]:
    english, german = english_root / FOLDER / "en-US", german_root / FOLDER / "de"
    for page in sorted(path.relative_to(english) for path in english.glob("text/**/*.html")):
        if (german / page).exists():
            name = str(page.with_suffix(""))
            for pair in page_pairs((english / page).read_text("utf-8", "replace"),
                                   (german / page).read_text("utf-8", "replace")):
                yield Pair("lohelp", "libreoffice-help", name, name, *pair)


def page_pairs(english: str, german: str) -> Iterator[Tuple[str, str]]:
    en, de = elements(english), elements(german)
    for key, texts in en.items():
        # An id can stand twice on a page (embedded parts); it joins only where both pages have it equally often.
        if len(de.get(key, [])) == len(texts):
            for a, b in zip(texts, de[key]):
                yield from sentence_pairs(split_sentences(a, "en"), split_sentences(b, "de"))


def elements(page: str) -> Dict[str, List[str]]:
    """The texts of the page's paragraphs and headings by id, in the page's order."""
    content = page[page.find(START):] if START in page else page
    content = content.split(END, 1)[0]
    found: Dict[str, List[str]] = {}
    for _, key, inner in ELEMENT.findall(content):
        found.setdefault(key, []).append(text_of(inner))
    return found


def text_of(inner: str) -> str:
    """An element's text. Of variants for systems and programs (a `switchinline`) one is taken: the default, else the
    first that is not for the Mac."""
    spans: List[Tuple[str, List[str], List[Tuple[str, str]]]] = [("", [], [])]  # (tag, text, its variants)
    for piece in TAG.split(inner):
        if piece.startswith("<span"):
            spans.append((piece, [], []))
        elif piece == "</span>" and len(spans) > 1:
            close_span(spans)
        elif not piece.startswith("<"):
            spans[-1][1].append(piece)
        elif piece.startswith(("<br", "<img")):
            spans[-1][1].append(" ")
    while len(spans) > 1:
        close_span(spans)
    return " ".join(unescape("".join(spans[0][1])).split())


def close_span(spans) -> None:
    tag, parts, variants = spans.pop()
    text = "".join(parts)
    if "hidden" in tag:
        named = SYSTEM_OR_PROGRAM.search(tag)
        spans[-1][2].append((named.group(1) if named else "", text))
    elif "switchinline" in tag:
        spans[-1][1].append(choose(variants))
    else:
        spans[-1][1].append(text)


def choose(variants: List[Tuple[str, str]]) -> str:
    by_name = {name: text for name, text in reversed(variants) if name != "MAC"}
    return by_name.get("", next((text for name, text in variants if name != "MAC"), ""))
