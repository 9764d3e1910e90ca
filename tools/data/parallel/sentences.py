"""Cuts a paragraph into sentences: at . ! ? before a capital, but not after abbreviations, initials or German ordinals."""

import re
from typing import List

from .clean import normalise

ABBREVIATIONS = {
    "en": set("e.g. i.e. etc. vs. mr. mrs. ms. dr. prof. st. no. fig. cf. approx. resp. incl. ca. vol. ed. al. inc. ltd. "
              "co. corp. jr. sr. dept. p. pp.".split()),
    "de": set("z.b. d.h. u.a. usw. bzw. ca. vgl. dr. prof. nr. st. evtl. ggf. inkl. zzgl. abb. bspw. sog. etc. hr. fr. "
              "str. bd. s. o.ä. u.ä. i.d.r. v.a. m.a.w. u.u. b. h. a. ä. d. i. u. z. allg. engl. max. min. mind. "
              "insb. usf. vs. jh. mio. mrd. tel.".split()),
}
END = re.compile(r"(?<![.!?])([.!?]+[\"')\]]*)\s+(?=[\"'(\[]?[A-ZÄÖÜ0-9])")
ORDINAL = re.compile(r"(^|\s)\d{1,4}\.$")
LONGEST_LAST = 64  # characters, more than any abbreviation
INITIAL = re.compile(r"(^|[\s(.])[A-Z]\.$")


def split_sentences(text: str, language: str) -> List[str]:
    text = normalise(text)  # first, so that quotes and ellipses are of one kind
    sentences, start = [], 0
    for end in END.finditer(text):
        if goes_on(text[max(start, end.end(1) - LONGEST_LAST):end.end(1)], language):
            continue
        sentences.append(text[start:end.end(1)].strip())
        start = end.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def goes_on(candidate: str, language: str) -> bool:
    """Whether the full stop at the end of a sentence's last characters is no sentence's end."""
    last = candidate.rsplit(None, 1)[-1].lstrip("\"'([").lower()
    if last in ABBREVIATIONS[language] or INITIAL.search(candidate):
        return True
    return language == "de" and bool(ORDINAL.search(candidate))
