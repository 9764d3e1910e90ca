"""Makes texts plain and says why a pair is not used. The order of the rules is the order in which drops are counted."""

import re
import unicodedata
from collections import Counter
from typing import Iterable, Iterator, List, Optional

from .pair import Pair

TOKEN = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
WORD = re.compile(r"[^\W\d_]")
URL = re.compile(r"https?:|ftp:|www\.|\w@\w+\.\w|\w\.(?:org|com|net|html?)\b", re.I)
BROKEN = re.compile("\ufffd|Ã[\u0080-\u00bf]|â€")  # undecodable, or UTF-8 once read as Latin-1
MOST_TOKENS = 100
MOST_MARKS = 30
LEAST_WORDS = 0.5
RATIO = (0.5, 2.3)  # characters of the German for one of the English
PLAIN = {ord(a): b for chars, b in (("„“”«»‟″", '"'), ("’‘‚‛‹›´`′", "'"), ("\u00a0\u2007\u2009\u200a\u202f", " "),
                                    ("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""), ("…", "..."), ("\u2010\u2011", "-"))
         for a in chars}

# Words that only one of the two languages has ("die", "in", "was", "an", "so" are in both).
STOP_WORDS = {
    "en": set("the and of to is are be with for that this it you from not or by if have has can which your when their "
              "they there its would will been were he she we as on at".split()),
    "de": set("der das und den dem des ist sind nicht ein eine einen einem einer eines mit für auf von zu im sich auch "
              "werden wird wurde oder als wenn es sie ich er wir bei aus dass kann können haben nach über zum zur".split()),
}


def normalise(text: str) -> str:
    """NFC, typographic quotes and spaces as ASCII, no soft hyphens, no control characters, single spaces."""
    text = unicodedata.normalize("NFC", stream_safe(text)).translate(PLAIN)
    text = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return " ".join(text.split())


def stream_safe(text: str) -> str:
    """Without marks on a letter above 30 (UAX #15): the time to put them in order grows with their square."""
    if text.isascii():
        return text
    kept, marks = [], 0
    for c in text:
        marks = marks + 1 if unicodedata.combining(c) else 0
        if marks <= MOST_MARKS:
            kept.append(c)
    return "".join(kept)


def tokens(text: str) -> List[str]:
    return TOKEN.findall(text)


def key(text: str) -> str:
    """What is left of a text when case, the values of numbers and punctuation do not matter."""
    return re.sub(r"\W+", " ", re.sub(r"\d+", "0", text.lower())).strip()


def fault(en: str, de: str) -> Optional[str]:
    """Why the pair is of no use; None where it is."""
    en_tokens, de_tokens = tokens(en), tokens(de)
    if not en_tokens or not de_tokens:
        return "empty"
    if max(len(en_tokens), len(de_tokens)) > MOST_TOKENS:
        return "over 100 tokens"
    if key(en) == key(de):
        return "not translated"
    if BROKEN.search(en) or BROKEN.search(de):
        return "broken characters"
    if URL.search(en) or URL.search(de):
        return "address"
    if min(share_of_words(en_tokens), share_of_words(de_tokens)) < LEAST_WORDS:
        return "few words"
    if not RATIO[0] <= len(de) / len(en) <= RATIO[1]:
        return "length ratio"
    if leaning(en_tokens) < 0 or leaning(de_tokens) > 0:
        return "wrong language"
    return None


def share_of_words(found: List[str]) -> float:
    return sum(bool(WORD.match(token)) for token in found) / len(found)


def leaning(found: List[str]) -> int:
    """Above 0: more English stop words than German ones; below: the other way round."""
    words = [token.lower() for token in found]
    return sum(word in STOP_WORDS["en"] for word in words) - sum(word in STOP_WORDS["de"] for word in words)


def clean(pairs: Iterable[Pair], drops: Counter) -> Iterator[Pair]:
    """The usable pairs, normalised, each once. `drops` counts the others by (source, reason)."""
    seen = set()
    for pair in pairs:
        pair = pair._replace(en=normalise(pair.en), de=normalise(pair.de))
        reason = fault(pair.en, pair.de)
        both = (key(pair.en), key(pair.de))
        if reason is None and both in seen:
            reason = "repeated"
        if reason is not None:
            drops[pair.source, reason] += 1
            continue
        seen.add(both)
        yield pair
