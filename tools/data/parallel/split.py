"""Training, validation and test pairs that share no document, no sentence and no near-copy of one.

Whole units are held out, chosen by the md5 of their name alone, so that more packages do not move the others. Then
 1. training pairs whose English or German occurs among the held-out ones are dropped, and validation pairs so against
    the test set;
 2. held-out pairs that have 70 % of their 4-grams in one training sentence, on either side, are dropped;
 3. held-out units are cut to UNIT_SIZE, so that no single page decides a score, and each domain to its size, both by
    the md5 of the pair. What is left keeps its order.
"""

import hashlib
from collections import Counter, defaultdict
from typing import Dict, Iterable, List, NamedTuple, Set, Tuple

from .clean import key, tokens
from .pair import Pair

DOMAINS = {"ding-sent": "general", "ding-phrase": "phrase", "lohelp": "office", "ddtp": "pkgdesc", "man": "man",
           "htmldocs": "debdoc", "mo": "ui"}
UNITS_OF = {"ding-phrase": "ding-sent"}  # sources whose units go where those of another go
PER_MILLE = {"test": 30, "valid": 25}  # of the units
UNIT_SIZE = 25
NEAR_COPY = 0.7
GRAM = 4


class Sizes(NamedTuple):
    """`train` is per source (0: all), `valid` and `test` per domain; lengths are in English tokens, from and to."""

    train_length: Tuple[int, int]
    held_length: Tuple[int, int]
    train: int
    valid: int
    test: int


class Parts(NamedTuple):
    train: List[Pair]
    valid: List[Pair]
    test: List[Pair]


def md5(text: str) -> int:
    return int.from_bytes(hashlib.md5(text.encode("utf-8")).digest(), "big")


def part_of(pair: Pair) -> str:
    """Which part the pair's unit belongs to."""
    place = md5(f"{UNITS_OF.get(pair.source, pair.source)}:{pair.unit}") % 1000
    if place < PER_MILLE["test"]:
        return "test"
    return "valid" if place < PER_MILLE["test"] + PER_MILLE["valid"] else "train"


def split(pairs: Iterable[Pair], sizes: Sizes, drops: Counter) -> Parts:
    """The three parts; `drops` counts by (source, reason) what is in none."""
    parts: Dict[str, List[Pair]] = {"train": [], "valid": [], "test": []}
    for pair in pairs:
        part = part_of(pair)
        shortest, longest = sizes.train_length if part == "train" else sizes.held_length
        if shortest <= len(tokens(pair.en)) <= longest:
            parts[part].append(pair)
        else:
            drops[pair.source, f"not {shortest} to {longest} English tokens"] += 1
    test = parts["test"]
    valid = without_shared(parts["valid"], test, "valid shares a sentence with test", drops)
    train = without_shared(parts["train"], valid + test, "train shares a sentence with valid or test", drops)
    copies = near_copies(valid + test, train)
    return Parts(sample(train, lambda pair: pair.source, sizes.train, "train over its size", drops),
                 held_out("valid", valid, copies, sizes.valid, drops),
                 held_out("test", test, copies, sizes.test, drops))


def held_out(name: str, pairs: List[Pair], copies: Set[Pair], size: int, drops: Counter) -> List[Pair]:
    pairs = keep(pairs, lambda pair: pair not in copies, f"{name} is near a training sentence", drops)
    pairs = sample(pairs, lambda pair: (pair.source, pair.unit), UNIT_SIZE, f"{name} over {UNIT_SIZE} of a unit", drops)
    return sample(pairs, lambda pair: DOMAINS[pair.source], size, f"{name} over its size", drops)


def keep(pairs: List[Pair], wanted, reason: str, drops: Counter) -> List[Pair]:
    kept = []
    for pair in pairs:
        if wanted(pair):
            kept.append(pair)
        else:
            drops[pair.source, reason] += 1
    return kept


def without_shared(pairs: List[Pair], held: List[Pair], reason: str, drops: Counter) -> List[Pair]:
    english, german = {key(pair.en) for pair in held}, {key(pair.de) for pair in held}
    return keep(pairs, lambda pair: key(pair.en) not in english and key(pair.de) not in german, reason, drops)


def grams(text: str) -> Set[Tuple[str, ...]]:
    words = key(text).split()
    return {tuple(words[i:i + GRAM]) for i in range(len(words) - GRAM + 1)}


def near_copies(held: List[Pair], train: List[Pair]) -> Set[Pair]:
    """The held-out pairs of which one training sentence has 70 % of the 4-grams, on either side."""
    return (near_copies_of_side([(pair, grams(pair.en)) for pair in held], (pair.en for pair in train)) |
            near_copies_of_side([(pair, grams(pair.de)) for pair in held], (pair.de for pair in train)))


def near_copies_of_side(held: List[Tuple[Pair, Set]], train: Iterable[str]) -> Set[Pair]:
    holders = defaultdict(list)
    for number, (_, found) in enumerate(held):
        for gram in found:
            holders[gram].append(number)
    copies = set()
    for sentence in train:
        shared = Counter(number for gram in grams(sentence) for number in holders.get(gram, ()))
        copies.update(held[number][0] for number, count in shared.items()
                      if count >= NEAR_COPY * len(held[number][1]))
    return copies


def sample(pairs: List[Pair], group, size: int, reason: str, drops: Counter) -> List[Pair]:
    """At most `size` pairs of each group (0: all): those of lowest md5, in the order they came."""
    if size == 0:
        return pairs
    groups = defaultdict(list)
    for pair in pairs:
        groups[group(pair)].append(pair)
    chosen = {pair for members in groups.values()
              for pair in sorted(members, key=lambda pair: md5(pair.en + "\t" + pair.de))[:size]}
    return keep(pairs, lambda pair: pair in chosen, reason, drops)
