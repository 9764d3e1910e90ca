#!/usr/bin/env python3
"""Times the same training step in this project and in PyTorch, in turns A B A B, and prints the ratios.

    python3 tools/peers/train.py --program build/release/transformer                    # base, V = 37,000
    python3 tools/peers/train.py --d_model 256 --h 4 --d_ff 1024 --N 3 --V 8000

Needs torch for this Python. With --tcmalloc FILE PyTorch runs a second time with that library preloaded
(Debian: libtcmalloc-minimal4, /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4). Work: 2,000 sentence pairs of mostly
15 to 45 word-pieces, like lengths together; a figure is the median over the rounds of a round's best step, and of the
ratios of the rounds.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIZES = dict(N=6, d_model=512, d_ff=2048, h=8, V=37000)


def write_lengths(file):
    numbers = random.Random(1)
    pairs = []
    for _ in range(2000):
        source = int(4 + 46 * sum(numbers.random() for _ in range(3)) / 3)
        pairs.append((source + 1, int(source * (0.85 + 0.4 * numbers.random())) + 1))
    pairs.sort(key=lambda pair: (pair[1], pair[0]))
    file.write("".join(f"{source} {target}\n" for source, target in pairs))
    file.flush()


def run(command, environment):
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/transformer")
    parser.add_argument("--config", default=str(HERE.parent.parent / "configs" / "base.json"))
    for name, value in SIZES.items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--tokens", type=int, default=2000, help="a batch, on each side")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--tcmalloc", help="a library to preload for PyTorch's second run")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32",
                        help="bfloat16: training.precision here, autocast in PyTorch")
    parser.add_argument("--compile", action="store_true", help="torch.compile as one more peer")
    a = parser.parse_args()
    sizes = {name: getattr(a, name) for name in SIZES}
    with tempfile.NamedTemporaryFile("w", suffix=".lengths") as lengths:
        write_lengths(lengths)
        common = ["--lengths", lengths.name, "--steps", str(a.steps), "--warmup", "2", "--threads", str(a.threads)]
        width = str(a.d_model // a.h)
        ours = [a.program, "bench", "train", a.config, "--json", "--parts=false", *common,
                f"training.precision={a.precision}", f"data.tokens_per_batch={a.tokens}", f"model.d_k={width}", f"model.d_v={width}",
                *[f"model.{name}={value}" for name, value in sizes.items()]]
        theirs = [sys.executable, str(HERE / "train_pytorch.py"), "--tokens", str(a.tokens), *common, "--precision", a.precision,
                  *[word for name, value in sizes.items() for word in ("--" + name, str(value))]]
        programs = {"transformer": (ours, {}), "PyTorch": (theirs, {})}
        if a.tcmalloc:
            programs["PyTorch with tcmalloc"] = (theirs, {"LD_PRELOAD": a.tcmalloc})
        if a.compile:
            programs["torch.compile"] = (theirs + ["--compile"], {})
        best = {name: [] for name in programs}
        memory = {}
        utilisation = []
        for round_number in range(a.rounds):
            for name, (command, environment) in programs.items():
                figures = run(command, environment)
                best[name].append(figures["seconds_minimum"])
                memory[name] = figures["peak_memory_bytes"]
                if name == "transformer":
                    utilisation.append(figures["utilisation_maximum"])
            print(f"round {round_number + 1} of {a.rounds}", file=sys.stderr)
    print(f"{'':24}{'s a step':>10}{'ratio':>8}{'memory':>12}")
    for name in programs:
        ratio = statistics.median(theirs / ours for theirs, ours in zip(best[name], best["transformer"]))
        print(f"{name:24}{statistics.median(best[name]):10.3f}{ratio:8.2f}{memory[name] / 2**20:8.0f} MiB")
    print(f"transformer reaches {100 * statistics.median(utilisation):.1f} % of the machine's matrix products")


if __name__ == "__main__":
    main()
