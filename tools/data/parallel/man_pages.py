"""Manual pages and their translations: the page of one name in both languages, block by block.

Reads the `man` macros of roff. Pages of the other macro package (`mdoc`) and a page's set-apart lines (code, tables)
are left out; an escape that is not known stays as U+FFFD, for the cleaning to drop.
"""

import gzip
import re
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from .align import paired_blocks, sentence_pairs
from .pair import Pair, ToolError
from .sentences import split_sentences

MOST_BYTES = 16 << 20
APART = {"nf": "fi", "EX": "EE", "TS": "TE", "de": ".", "ig": ".", "SY": "YS"}  # opening request, closing one
FONTS = {"B", "I", "SB", "SM", "R"}
ALTERNATING = {"BI", "BR", "IB", "IR", "RB", "RI"}
HEADINGS = {"SH", "SS"}
TRANSLATORS = ("ÜBERSETZUNG", "COLOPHON", "KOLOPHON")  # what follows is no text of the page itself
ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
ESCAPE = re.compile(r"\\(?:f(?:\[[^\]]*\]|\(..|.)|s(?:[-+]?\d)|\*(?:\[[^\]]*\]|\(..|.)|\((..)|\[([^\]]*)\]|(.))")
NAMED = {"aq": "'", "dq": '"', "em": "—", "en": "–", "bu": "•", "co": "©", "lq": '"', "rq": '"', "oq": "'", "cq": "'",
         "Bq": '"', "bq": "'", "Fo": '"', "Fc": '"', ":a": "ä", ":o": "ö", ":u": "ü", ":A": "Ä", ":O": "Ö", ":U": "Ü",
         "ss": "ß", "rs": "\\", "ha": "^", "ti": "~", "hy": "-", "ga": "`", "mu": "×", "+-": "±", ">=": "≥", "<=": "≤",
         "->": "→", "'e": "é", "`e": "è", "de": "°"}
SINGLE = {"-": "-", "e": "\\", "~": " ", " ": " ", "0": " ", "'": "'", "`": "`", "&": "", "|": "", "^": "", "%": "",
          ",": "", "/": "", ":": "", "c": "", ")": "", ".": ".", "\\": "\\"}


def read_man(roots: List[Path]) -> Iterator[Pair]:
    """Every German page whose English one is in any of the packages unpacked at `roots`."""
    english, german = pages(roots, "man*"), pages(roots, "de/man*")
    for name in sorted(english.keys() & german.keys()):
        en, de = (read_page(path) for _, path in (english[name], german[name]))
        for pair in man_pairs(en, de):
            yield Pair("man", english[name][0], name, name, *pair)


def read_page(path: Path) -> str:
    with gzip.open(path) as file:  # a few bytes can stand for any number
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ToolError(f"{path}: expected a manual page of at most {MOST_BYTES} bytes; it has more")
    return content.decode("utf-8", "replace")


def pages(roots: List[Path], sections: str) -> Dict[str, Tuple[str, Path]]:
    """(package, file) by `man1/ls.1`; of two packages' pages the first counts."""
    found: Dict[str, Tuple[str, Path]] = {}
    for root in roots:
        for path in sorted((root / "usr/share/man").glob(f"{sections}/*.gz")):
            if path.is_file() and not path.is_symlink():
                found.setdefault(f"{path.parent.name}/{path.stem}", (root.name, path))
    return found


def man_pairs(english: str, german: str) -> Iterator[Tuple[str, str]]:
    for en, de in paired_blocks(man_blocks(english), man_blocks(german)):
        yield from sentence_pairs(split_sentences(en, "en"), split_sentences(de, "de"))


def man_blocks(page: str) -> List[Tuple[str, str]]:
    """(request that began it, text) of the page's blocks in order."""
    lines = page.split("\n")
    if any(line.startswith(".Dd") for line in lines):
        return []
    reader = Reader()
    for line in lines:
        if not reader.take(line):
            break
    return [(kind, text) for kind, text in ((kind, " ".join(" ".join(parts).split())) for kind, parts in reader.blocks)
            if text]


class Reader:
    def __init__(self):
        self.blocks: List[Tuple[str, List[str]]] = [("PP", [])]
        self.apart = ""  # the request that ends what is set apart
        self.tag_next = False  # after .TP the next line is the item's tag

    def take(self, line: str) -> bool:
        """False where the page's own text ends."""
        request = re.match(r"[.'][ \t]*(\S*)[ \t]*(.*)", line)
        if self.apart:
            self.apart = "" if request and request.group(1) == self.apart else self.apart
            return True
        if not request:
            self.text(line)
            return True
        name, rest = request.groups()
        if name.startswith('\\"') or not name:
            return True
        words = [(a.replace('""', '"') if a else b) for a, b in ARGUMENT.findall(rest.split('\\"')[0])]
        return self.request(name, words)

    def request(self, name: str, words: List[str]) -> bool:
        if name in APART:
            self.apart = APART[name]
            self.open("PP")
        elif name in FONTS:
            self.text(" ".join(words))
        elif name in ALTERNATING:
            self.text("".join(words))
        elif name in HEADINGS:
            if words and plain(" ".join(words)).upper() in TRANSLATORS:
                return False
            self.open(name, " ".join(words))
            self.open_after_heading(words)
        elif name in ("TP", "TQ"):
            self.open("tag")
            self.tag_next = True
        elif name in ("IP", "HP"):
            self.open("tag", words[0] if words else "")
            self.open("IP")
        else:
            self.open("PP")
        return True

    def open_after_heading(self, words: List[str]) -> None:
        if words:
            self.open("PP")
        else:
            self.tag_next = True

    def open(self, kind: str, text: str = "") -> None:
        self.tag_next = False
        self.blocks.append((kind, []))
        if text:
            self.text(text)

    def text(self, line: str) -> None:
        self.blocks[-1][1].append(plain(line))
        if self.tag_next:
            self.open("IP")


def plain(text: str) -> str:
    return ESCAPE.sub(resolve, text)


def resolve(match: "re.Match") -> str:
    named = match.group(1) or match.group(2)
    if named is not None:
        code = re.fullmatch(r"u([0-9A-F]{4,5})", named)
        return character(int(code.group(1), 16)) if code else NAMED.get(named, "\ufffd")
    if match.group(3) is not None:
        return SINGLE.get(match.group(3), "\ufffd")
    string = re.fullmatch(r"\\\*[\[(]?(lq|rq|Aq|R|Tm)\]?", match.group())
    if string:
        return {"lq": '"', "rq": '"', "Aq": "'", "R": "", "Tm": ""}[string.group(1)]
    return "\ufffd" if match.group().startswith("\\*") else ""


def character(point: int) -> str:
    """Half of a surrogate pair is none, and could not be written."""
    return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)
