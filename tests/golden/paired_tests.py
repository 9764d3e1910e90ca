"""Writes paired_tests.json, what sacreBLEU's paired tests and NumPy's generator make of systems invented here. Needs
sacrebleu and numpy; their versions are kept.

    python3 tests/golden/paired_tests.py > tests/golden/paired_tests.json
"""

import json
import os
import random

import numpy
import sacrebleu
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

WORDS = "der die das und nicht ein zu haben ich werden sie von mit auf für , . ! 3,5 Haus Wasser".split()
SAMPLES = {"bs": 200, "ar": 500}


def sentence(rng, longest):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, longest)))


def translated(line, errors, rng):
    return " ".join(rng.choice(WORDS) if rng.random() < errors else word for word in line.split())


def p_values(kind, seed, hypotheses, references):
    os.environ["SACREBLEU_SEED"] = str(seed)
    named = [(str(i), lines) for i, lines in enumerate(hypotheses)]
    test = PairedTest(named, {"BLEU": BLEU()}, [references], kind, SAMPLES[kind])
    return [result.p_value for result in test()[1]["BLEU"][1:]]


def case(seed, size, longest, errors, rng):
    references = [sentence(rng, longest) for _ in range(size)]
    hypotheses = [[translated(line, e, rng) for line in references] for e in errors]
    hypotheses.append(hypotheses[0])  # the baseline against itself
    return {
        "seed": seed,
        "references": references,
        "hypotheses": hypotheses,
        "bootstrap": p_values("bs", seed, hypotheses, references),
        "randomisation": p_values("ar", seed, hypotheses, references),
    }


def drawn(seed):
    """In one call each, as the tests draw."""
    make = numpy.random.default_rng
    return {
        "seed": seed,
        "bits": [str(x) for x in make(seed).integers(0, 2**64, 4, dtype=numpy.uint64)],
        "choice": make(seed).choice(1000, size=(3, 5), replace=True).flatten().tolist(),
        "choice_of_many": make(seed).choice(3_000_000_000, size=9).tolist(),  # draws some again
        "coins": make(seed).integers(2, size=(2, 50), dtype=bool).flatten().astype(int).tolist(),
    }


def main():
    rng = random.Random(2017)
    golden = {
        "sacrebleu": sacrebleu.__version__,
        "numpy": numpy.__version__,
        "samples": SAMPLES,
        "drawn": [drawn(seed) for seed in (0, 1, 12345, 2**40 + 7)],
        "cases": [
            case(12345, 40, 12, (0.3, 0.32, 0.35, 0.45, 0.9), rng),
            case(7, 25, 20, (0.5, 0.5, 0.55), rng),
            case(12345, 3, 9, (0.1, 0.4), rng),
            case(1, 1, 9, (0.1, 0.6), rng),
        ],
    }
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
