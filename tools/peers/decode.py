#!/usr/bin/env python3
"""Beam search of `transformer` and of CTranslate2 in turns: same weights, sentences and batches.

    decode.py CONFIG [key=value...] [--batch 32] [--turns 3] [--threads 2]
    decode.py --checkpoint RUN ...      a trained model; compares the translations too

With random weights both write as many word-pieces as a batch's longest source has. Scores are
divided by length^alpha in both, since CTranslate2 has no other penalty. Prints a line a turn and the
ratio of the medians. Needs the packages ctranslate2, numpy and safetensors.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.join(os.path.dirname(__file__), "../../build/release/transformer")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config", nargs="*", help="CONFIG and key=value")
    parser.add_argument("--checkpoint")
    parser.add_argument("--sentences", help="word-pieces' numbers, a sentence a line")
    parser.add_argument("--count", type=int, default=64, help="sentences made up otherwise")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--alpha", type=float, default=0.6)
    parser.add_argument("--program", default=PROGRAM)
    return parser.parse_intermixed_args()


def made_sentences(count, V):
    """Lengths as in news: 5 to 52 pieces, 28 on average."""
    generator = random.Random(1)
    lengths = (
        5 + generator.randrange(20) + generator.randrange(20) + generator.randrange(10)
        for _ in range(count)
    )
    return [[generator.randrange(4, V) for _ in range(length)] for length in lengths]


def bench(options, extra):
    command = [options.program, "bench", "decode", *extra, "--json"]
    command += ["--batch", str(options.batch), "--threads", str(options.threads)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main():
    options = arguments()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import ctranslate2
    from ctranslate2_model import build, piece, read_model, token

    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.path.join(folder, "model.safetensors"), os.path.join(folder, "peer")
        sentences_file = os.path.join(folder, "sentences")
        hypotheses_file = os.path.join(folder, "hypotheses")
        os.mkdir(theirs)
        model = ["--checkpoint", options.checkpoint] if options.checkpoint else options.config
        bench(options, model + ["--count", "1", "--pieces", "1", "--save", ours])
        build(ours, theirs)
        V = read_model(ours)[0]["source_V"]
        if options.sentences:
            sentences = [list(map(int, line.split())) for line in open(options.sentences)]
        else:
            sentences = made_sentences(options.count, V)
        sentences.sort(key=len, reverse=True)
        with open(sentences_file, "w") as file:
            file.writelines(" ".join(map(str, sentence)) + "\n" for sentence in sentences)

        translator = ctranslate2.Translator(
            theirs,
            device="cpu",
            compute_type="float32",
            inter_threads=1,
            intra_threads=options.threads,
        )
        batches = [
            [[token(p) for p in sentence] + ["</s>"] for sentence in sentences[i : i + options.batch]]
            for i in range(0, len(sentences), options.batch)
        ]

        def their_turn():
            found = []
            start = time.perf_counter()
            for batch in batches:
                most = len(batch[0]) - 1  # pieces of the longest
                lengths = (
                    {"max_decoding_length": most + 50}
                    if options.checkpoint
                    else {"min_decoding_length": most + 1, "max_decoding_length": most + 1}
                )
                results = translator.translate_batch(
                    batch,
                    beam_size=options.beam,
                    length_penalty=options.alpha,
                    max_batch_size=0,
                    return_scores=False,
                    **lengths,
                )
                found += [[piece(t) for t in each.hypotheses[0]] for each in results]
            return time.perf_counter() - start, found

        decoding = [
            f"decoding.beam={options.beam}",
            f"decoding.alpha={options.alpha}",
            "decoding.length_penalty=power",
        ]
        weights = ["--checkpoint", ours, "--sentences", sentences_file, *decoding]
        weights += ["--hypotheses", hypotheses_file, "--force"]
        if not options.checkpoint:
            weights += ["--pieces-as-source"]

        their_turn()  # memory is touched, weights are laid out
        times = {"transformer": [], "ctranslate2": []}
        for turn in range(options.turns):
            measured = bench(options, weights)["batches"][0]
            seconds, found = their_turn()
            times["transformer"].append(measured["seconds"])
            times["ctranslate2"].append(seconds)
            print(
                f"turn {turn + 1}: transformer {measured['seconds']:.3f} s, ctranslate2 "
                f"{seconds:.3f} s, {measured['steps']} steps of ours, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        ours_found = [list(map(int, line.split())) for line in open(hypotheses_file)]
        same = sum(a[: len(b)] == b or b[: len(a)] == a for a, b in zip(ours_found, found))
        medians = {name: statistics.median(each) for name, each in times.items()}
        best = {name: min(each) for name, each in times.items()}
        print(
            f"{len(sentences)} sentences, {options.batch} a batch, beam {options.beam}, "
            f"{options.threads} threads: {same} of {len(sentences)} translations are the same"
        )
        print(
            f"transformer is {medians['ctranslate2'] / medians['transformer']:.2f} times as fast as "
            f"ctranslate2 (medians; fastest turns {best['ctranslate2'] / best['transformer']:.2f})"
        )


if __name__ == "__main__":
    sys.exit(main())
