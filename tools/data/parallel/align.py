"""Pairs two sequences of texts, in order, by length and shared numbers and names (Gale and Church 1993).

Every text is used at most once. The cheapest path over 1-1, 1-2, 2-1, 1-0 and 0-1 steps is taken; the callers keep
only the steps that they trust.
"""

import math
import re
from typing import List, NamedTuple, Sequence, Set, Tuple

GERMAN_PER_ENGLISH = 1.12  # characters, measured on the dictionary's sentences
VARIANCE = 6.8  # of a text's length per character (Gale and Church)
STEPS = {(1, 1): 0.0, (1, 2): 2.5, (2, 1): 2.5, (1, 0): 4.5, (0, 1): 4.5}  # cost: -ln of how rare, relative to 1-1
BAND = 12  # how far from the diagonal, beyond the difference in length, a path may go
MOST_SENTENCES = 200  # of a paragraph: the time to pair them grows with the square
FAR = 12  # blocks; and a tenth of them
SHARED = re.compile(r"\d+|\b[A-Z]{2,}\w*|\b\w+[_/]\w+|\b[A-Z][a-z]+[A-Z]\w*")


class Step(NamedTuple):
    en: List[int]
    de: List[int]


def align(en: Sequence[str], de: Sequence[str]) -> List[Step]:
    marks = [[set(SHARED.findall(text)) for text in side] for side in (en, de)]
    best = {(0, 0): (0.0, (0, 0))}
    width = abs(len(en) - len(de)) + BAND
    for i in range(len(en) + 1):
        middle = i * len(de) // max(len(en), 1)
        for j in range(max(0, middle - width), min(len(de), middle + width) + 1):
            if (i, j) != (0, 0):
                best[i, j] = cheapest(best, i, j, en, de, marks)
    return trace(best, len(en), len(de))


def cheapest(best, i: int, j: int, en, de, marks):
    choices = []
    for (take_en, take_de), prior in STEPS.items():
        before = (i - take_en, j - take_de)
        if before in best:
            cost = prior
            if take_en and take_de:
                cost += length_cost(size(en[before[0]:i]), size(de[before[1]:j]))
                cost += mark_cost(set().union(*marks[0][before[0]:i]), set().union(*marks[1][before[1]:j]))
            choices.append((best[before][0] + cost, before))
    return min(choices)


def trace(best, i: int, j: int) -> List[Step]:
    steps = []
    while (i, j) != (0, 0):
        before_i, before_j = best[i, j][1]
        steps.append(Step(list(range(before_i, i)), list(range(before_j, j))))
        i, j = before_i, before_j
    return steps[::-1]


def size(texts: Sequence[str]) -> int:
    return sum(len(text) for text in texts)


def length_cost(en: int, de: int) -> float:
    mean = (en + de / GERMAN_PER_ENGLISH) / 2
    deviation = abs(de - en * GERMAN_PER_ENGLISH) / math.sqrt(max(mean, 1.0) * VARIANCE)
    return -math.log(max(math.erfc(deviation / math.sqrt(2)), 1e-12))


def mark_cost(en: Set[str], de: Set[str]) -> float:
    """Numbers and names stand on both sides of a translation: each one shared makes a step cheaper, each lone one dearer."""
    return 0.7 * len(en ^ de) - 0.7 * len(en & de)


def sentence_pairs(en: Sequence[str], de: Sequence[str]):
    """(English, German) of the aligned sentences; two that stand against one are joined. None of what is no paragraph."""
    if len(en) == len(de) == 1:
        return [(en[0], de[0])]
    if max(len(en), len(de)) > MOST_SENTENCES:
        return []
    return [(" ".join(en[i] for i in step.en), " ".join(de[j] for j in step.de))
            for step in align(en, de) if step.en and step.de]


def paired_blocks(en: Sequence[Tuple[str, str]], de: Sequence[Tuple[str, str]]) -> List[Tuple[str, str]]:
    """(English, German) of (kind, text) blocks: one to one where the kinds agree throughout, else by alignment. Nothing
    where the counts are far apart: then one side is of another version."""
    if [kind for kind, _ in en] == [kind for kind, _ in de]:
        return [(a, b) for (_, a), (_, b) in zip(en, de)]
    if abs(len(en) - len(de)) > FAR + len(en) // 10:
        return []
    texts = [text for _, text in en], [text for _, text in de]
    return [(texts[0][step.en[0]], texts[1][step.de[0]]) for step in align(*texts)
            if len(step.en) == len(step.de) == 1]
