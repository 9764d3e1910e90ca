"""Writes bleu.json, what sacreBLEU makes of corpora invented here. Needs sacrebleu; its version is kept.

    python3 tests/golden/bleu.py > tests/golden/bleu.json
"""

import json
import random

import sacrebleu
from sacrebleu.metrics import BLEU

SENTENCES = [
    "The committee has agreed on 1,000.5 million euros, i.e. 12.5% more than in 2016.",
    "Die Straße über die Brücke war wegen der Überschwemmung drei Tage lang gesperrt.",
    'She said: "We can\'t go on like this", and left the well-known café at 7:30 p.m.',
    "Er fragte, ob das Geschäft am 24.12. geöffnet sei; niemand wußte es.",
    "Fish &amp; chips cost &quot;only&quot; &lt;5 pounds&gt;, don't they?",
    "&amp;lt; is an entity twice over, and &nbsp; or &#39; is none that counts & so on.",
    "Der Preis fiel um 3,5 Prozent auf 1.234,56 Euro - zum dritten Mal seit 2015-16.",
    "A state-of-the-art, ten-year-old machine ran 24/7 at a cost of $3.50/hour (approx.).",
    "„Wir müssen handeln“, sagte sie – und zwar schnell…",
    "Bis dahin gilt: §5 Abs. 2 Nr. 3, a.a.O., S. 17ff.",
    "日本語の文章です。これはテストです,3.14と書く。",
    "The 😀 smiled at the 👩‍👩‍👧 and 🇩🇪 flags...",
    "Er\u00a0kam um 10\u202f000 Uhr\u2003und ging\u3000wieder.",
    "Tabs\tand  double   spaces \x0band\x1cother\x85separators do not count.",
    "http://www.example.org/a_b?c=d&e=f#g~h|i{j}[k]\\l^m`n",
    "user.name+tag@example.com, .5, 5., 5.a, a.5, ..., ,,, .,.,. 1..2 -1 1- 1-2 --",
    "<skipped>What is <skipped> is gone, even in mid<skipped>word.",
    "L'été, c'est l'été; où est-ce qu'on va?",
    "No. 1 of 3: Dr. Smith's dogs' bones; rock 'n' roll.",
    "e\u0301 combined, \ufeffmark, soft\u00adhyphen, zero\u200bwidth, ½ ² ٣.٤ ３．４",
    "yes",
    "Ja .",
    "a b c",
    "",
    "   ",
    ".",
    "\u00a0",
]


def perturbed(sentence, rate, rng):
    """Words dropped, doubled, swapped and cut, so that every order of n-gram has hits and misses."""
    words = sentence.split(" ")
    out = []
    for word in words:
        roll = rng.random()
        if roll < rate / 4:
            continue
        out.append(word[: len(word) // 2] if roll < rate / 2 else word)
        if rate / 2 <= roll < 3 * rate / 4:
            out.append(rng.choice(words))
    if out and rng.random() < rate:
        i = rng.randrange(len(out))
        out[i:] = out[i:][::-1]
    return " ".join(out)


def corpus(hypotheses, references):
    bleu = BLEU()
    score = bleu.corpus_score(hypotheses, [references])
    return {
        "hypotheses": hypotheses,
        "references": references,
        "score": score.score,
        "precisions": score.precisions,
        "bp": score.bp,
        "counts": score.counts,
        "totals": score.totals,
        "sys_len": score.sys_len,
        "ref_len": score.ref_len,
        "printed": score.format().split(" = ", 1)[1],
    }


def signature():
    bleu = BLEU()
    bleu.corpus_score(["a"], [["a"]])
    return str(bleu.get_signature()).rsplit("|version:", 1)[0]


def main():
    rng = random.Random(2017)
    tokenize = BLEU().tokenizer
    corpora = [corpus([a], [b]) for a in ("", "yes", "a b c", "a b c d") for b in ("", "yes", "a b c d e")]
    for size in (1, 2, 3, 10, 100):
        for rate in (0.0, 0.2, 0.6, 1.0):
            references = [rng.choice(SENTENCES) for _ in range(size)]
            corpora.append(corpus([perturbed(r, rate, rng) for r in references], references))
    corpora.append(corpus(["a b x d e"], ["a b c d e"]))  # no 3-gram: the smoothing of two orders
    corpora.append(corpus(["line one  \t", "a\r"], ["line one", "a"]))
    golden = {
        "sacrebleu": sacrebleu.__version__,
        "signature": signature(),
        "tokenized": [{"line": s, "tokens": tokenize(s.rstrip())} for s in SENTENCES],
        "corpora": corpora,
    }
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
