#!/usr/bin/env python3
"""BLEU that needs no translation, so that a score can be judged: copying the source, and taking over the German of the
nearest training sentence. Nearest: the highest cosine of tf-idf vectors over the English sides' lower-case words."""

import argparse
import math
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Dict, List

from parallel.clean import TOKEN

try:
    import sacrebleu
except ImportError:
    sacrebleu = None


class Nearest:
    """Finds the training sentence that is nearest to a given one; among equals the first."""

    def __init__(self, sentences: List[str]):
        bags = [Counter(words(sentence)) for sentence in sentences]
        documents = Counter(word for bag in bags for word in bag)
        self.idf = {word: math.log(len(bags) / count) for word, count in documents.items()}
        self.index: Dict[str, list] = defaultdict(list)
        for number, bag in enumerate(bags):
            for word, weight in self.unit(bag).items():
                self.index[word].append((number, weight))

    def unit(self, bag: Counter) -> Dict[str, float]:
        weights = {word: count * self.idf[word] for word, count in bag.items() if word in self.idf}
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()} if length else {}

    def find(self, sentence: str) -> int:
        scores: Dict[int, float] = defaultdict(float)
        for word, weight in self.unit(Counter(words(sentence))).items():
            for number, other in self.index[word]:
                scores[number] += weight * other
        return min(scores, key=lambda number: (-scores[number], number), default=0)


def words(text: str) -> List[str]:
    return [token for token in TOKEN.findall(text.lower()) if re.match(r"\w", token)]


def read_lines(path: Path) -> List[str]:
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("data/small"), help="a corpus (default: data/small)")
    parser.add_argument("--part", choices=("valid", "test"), default="test")
    arguments = parser.parse_args()
    if sacrebleu is None:
        print("floors.py: needs the Python package sacrebleu (pip install sacrebleu)", file=sys.stderr)
        return 1
    try:
        files = [read_lines(arguments.folder / name) for name in
                 ("train.en", "train.de", f"{arguments.part}.en", f"{arguments.part}.de", f"{arguments.part}.meta")]
    except OSError as error:
        print(f"floors.py: {error}; make the corpus with tools/data/corpus.py", file=sys.stderr)
        return 2
    report(*files)
    return 0


def report(train_en: List[str], train_de: List[str], source: List[str], reference: List[str], meta: List[str]) -> None:
    nearest = Nearest(train_en)
    taken = [train_de[nearest.find(sentence)] for sentence in source]
    domains = [line.split("\t")[1] for line in meta]
    print(f"{'domain':10} {'pairs':>6} {'copy':>6} {'nearest':>8}")
    for name in ["all", *sorted(set(domains))]:
        rows = [row for row, domain in enumerate(domains) if name in ("all", domain)]
        scores = [bleu([side[row] for row in rows], [reference[row] for row in rows]) for side in (source, taken)]
        print(f"{name:10} {len(rows):6} {scores[0]:6.1f} {scores[1]:8.1f}")


def bleu(translations: List[str], references: List[str]) -> float:
    return sacrebleu.corpus_bleu(translations, [references]).score


if __name__ == "__main__":
    sys.exit(main())
