"""Package descriptions and their German translations, from apt's Translation lists, joined by Description-md5."""

import re
from typing import Dict, Iterator, List, NamedTuple, Tuple

from .align import paired_blocks, sentence_pairs
from .pair import Pair
from .sentences import split_sentences

BULLET = re.compile(r"^(\s*)(?:[*+•·o-]|\d+[.)])\s+(?=\S)")
SUSPENDED = re.compile(r"(?:und|oder|bzw\.|sowie|bis|and|or|to)\b")  # after a hyphen that stands for a missing part


class Description(NamedTuple):
    package: str
    short: str
    body: List[str]


def read_descriptions(texts: Dict[str, str]) -> Iterator[Pair]:
    english, german = (stanzas(texts[language], language) for language in ("en", "de"))
    for key in sorted(german.keys() & english.keys()):
        en, de = english[key], german[key]
        unit = en.package.split("-")[0]
        pairs = [(en.short, de.short), *body_pairs(en.body, de.body)]
        for pair in pairs:
            yield Pair("ddtp", en.package, en.package, unit, *pair)


def stanzas(text: str, language: str) -> Dict[str, Description]:
    """Descriptions by md5; the first of equal ones counts."""
    found: Dict[str, Description] = {}
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([\w-]+): *(.*)$", stanza, re.M))
        key, short = fields.get("Description-md5"), fields.get(f"Description-{language}")
        if key and short and "Package" in fields:
            body = [line[1:] for line in stanza.split("\n") if line.startswith(" ")]
            found.setdefault(key, Description(fields["Package"], short, body))
    return found


def body_pairs(en: List[str], de: List[str]) -> Iterator[Tuple[str, str]]:
    for a, b in paired_blocks(blocks(en), blocks(de)):
        yield from sentence_pairs(split_sentences(a, "en"), split_sentences(b, "de"))


def blocks(body: List[str]) -> List[Tuple[str, str]]:
    """(kind, text) of the paragraphs and list items, in order. Lines set apart (code, tables, quotations cut at the
    line's end) are left out."""
    found: List[Tuple[str, List[str]]] = []
    open_at = None  # the open block's indent; None: the next line starts a block
    for line in body:
        bullet = BULLET.match(line)
        indent = len(line) - len(line.lstrip())
        if line.strip() in ("", "."):
            open_at = None
        elif bullet:
            found.append(("item", [line[bullet.end():]]))
            open_at = len(bullet.group(1))
        elif open_at is not None and continues(found[-1][0], open_at, indent):
            found[-1][1].append(line.strip())
        else:
            if indent == 0:
                found.append(("paragraph", [line.strip()]))
            open_at = None if indent else 0
    return [(kind, join_lines(lines)) for kind, lines in found]


def continues(kind: str, open_at: int, indent: int) -> bool:
    return indent > open_at or open_at == 0 if kind == "item" else indent == 0


def join_lines(lines: List[str]) -> str:
    """One line of wrapped ones; a word broken after its hyphen (`libjson-xs-` `perl`) is put together again."""
    text = lines[0]
    for line in lines[1:]:
        broken = re.search(r"\w-$", text) and line[:1].isalnum() and not SUSPENDED.match(line)
        text += line if broken else " " + line
    return text
