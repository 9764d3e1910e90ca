"""Handbooks in HTML: the same page in both languages, paragraphs, headings and list items in their order."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Iterator, List, NamedTuple, Tuple

from .align import paired_blocks, sentence_pairs
from .entities import without_over_long
from .pair import Pair
from .sentences import split_sentences

BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "dt", "dd", "td", "th", "div", "section", "table", "ul", "ol",
          "dl", "tr", "blockquote", "figcaption", "caption"}
SKIPPED = {"pre", "script", "style", "head", "nav"}


class Handbook(NamedTuple):
    package: str
    german_package: str
    english: str  # glob under the package's root
    german: str  # folder and name of the German page, {name}: the English page's without endings


HANDBOOKS = (
    Handbook("debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html/en-US/*.html",
             "usr/share/doc/debian-handbook/html/de-DE/{name}.html"),
    Handbook("debian-reference-en", "debian-reference-de", "usr/share/debian-reference/*.en.html",
             "usr/share/debian-reference/{name}.de.html"),
    Handbook("developers-reference", "developers-reference-de", "usr/share/developers-reference/*.html",
             "usr/share/developers-reference/de/{name}.html"),
    Handbook("debian-faq", "debian-faq-de", "usr/share/doc/debian/FAQ/*.en.html",
             "usr/share/doc/debian/FAQ/de/{name}.de.html"),
    Handbook("maint-guide", "maint-guide-de", "usr/share/doc/maint-guide/html/*.en.html",
             "usr/share/doc/maint-guide-de/html/{name}.de.html"),
    Handbook("apt-doc", "apt-doc", "usr/share/doc/apt-doc/guide.html/*.html",
             "usr/share/doc/apt-doc/guide.de.html/{name}.html"),
    Handbook("apt-doc", "apt-doc", "usr/share/doc/apt-doc/offline.html/*.html",
             "usr/share/doc/apt-doc/offline.de.html/{name}.html"),
)


def read_handbooks(root: Path) -> Iterator[Pair]:
    for book in HANDBOOKS:
        for path in sorted((root / book.package).glob(book.english)):
            name = re.sub(r"(\.en)?\.html$", "", path.name)
            german = root / book.german_package / book.german.format(name=name)
            if german.is_file():
                document = f"{book.package}/{name}"
                for en, de in paired_blocks(html_blocks(path.read_text("utf-8", "replace")),
                                            html_blocks(german.read_text("utf-8", "replace"))):
                    for pair in sentence_pairs(split_sentences(en, "en"), split_sentences(de, "de")):
                        yield Pair("htmldocs", book.package, document, document, *pair)


def html_blocks(page: str) -> List[Tuple[str, str]]:
    reader = Reader()
    reader.feed(without_over_long(page))
    reader.close()
    return [(tag, text) for tag, text in ((tag, " ".join("".join(parts).split())) for tag, parts in reader.blocks) if text]


class Reader(HTMLParser):
    """Collects (tag, text) of blocks; text after an inner block belongs to a new block of the outer one's tag."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks: List[Tuple[str, List[str]]] = [("", [])]
        self.open: List[str] = [""]  # never empty: text outside of every block
        self.skipping: List[str] = []

    def handle_starttag(self, tag, attributes):
        if tag in SKIPPED:
            self.skipping.append(tag)
        elif tag in BLOCKS:
            self.open.append(tag)
            self.blocks.append((tag, []))
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag):
        if tag in SKIPPED:
            if tag in self.skipping:
                self.skipping.remove(tag)
            self.blocks.append((self.open[-1], []))
        elif tag in self.open:
            while self.open.pop() != tag:
                pass
            self.blocks.append((self.open[-1], []))

    def handle_data(self, data):
        if not self.skipping:
            self.blocks[-1][1].append(data.replace("¶", " "))  # the sign of a heading's link to itself
