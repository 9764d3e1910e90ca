"""The program as a user starts it, on a generated pair, watched and stopped from outside."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TRANSFORMER_PROGRAM", str(ROOT / "build/release/transformer"))
# "long": the numbers of docs/reliability.md; else some seconds' worth, for every build.
LONG = os.environ.get("TRANSFORMER_FAULTS") == "long"
SEED = int(os.environ.get("TRANSFORMER_FAULTS_SEED", "1"))
PATIENCE = 120  # seconds; a run here takes one or two

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
TIMES = ("seconds", "tokens_per_second", "peak_memory_bytes", "memory_bytes", "checksum")
LINES = ("metrics.jsonl", "diagnostics.jsonl")  # what was lost of them cannot be made again


def start(*words, **options):
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([PROGRAM, *map(str, words)], cwd=ROOT, env=ENVIRONMENT, text=True, **options)


def finish(process):
    """Waits for its end. Returns exit code (minus the signal where one ended it) and messages."""
    out, messages = process.communicate(timeout=PATIENCE)
    return process.returncode, messages if messages is not None else out


def run(*words, **options):
    return finish(start(*words, **options))


def without_times(record):
    return {key: value for key, value in record.items() if key not in TIMES}


def metrics(folder, name="metrics.jsonl"):
    with open(folder / name) as lines:
        return [without_times(json.loads(line)) for line in lines]


def contents(folder):
    """All that a complete run leaves, its times left out: by file, what must not differ."""
    found = {name: metrics(folder, name) for name in LINES}
    found["result.json"] = without_times(json.loads((folder / "result.json").read_text()))
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "progress.json":
            found[name] = without_times(json.loads(path.read_text()))
        elif path.suffix in (".safetensors", ".model", ".translations", ".references", ".checksums"):
            found[name] = path.read_bytes()
        elif path.is_dir() and path.parent.name == "checkpoints":
            found[name] = sorted(part.name for part in path.iterdir())
    return found


class Place:
    """A generated pair in a folder of its own, and the words for tiny runs on it."""

    def __init__(self, **sizes):
        self.folder = Path(tempfile.mkdtemp(prefix="transformer_faults_"))
        sizes = {"words": 20, "longest": 6, "pairs": 300, "valid": 40, "test": 12, **sizes}
        words = [word for key, value in sizes.items() for word in (f"--{key}", value)]
        code, messages = run("data", "generate", "--out", self.folder / "data", *words)
        assert code == 0, messages

    def remove(self):
        shutil.rmtree(self.folder)

    def __truediv__(self, name):
        return self.folder / name

    def config(self, **changes):
        """key=value words. In changes a key's dot is written as two underscores."""
        values = {
            "data.train": self / "data/train", "data.valid": self / "data/valid",
            "data.vocabulary": self / "data/vocabulary.model", "data.tokens_per_batch": 300,
            "model.V": 400, "model.N": 1, "model.d_model": 16, "model.d_ff": 16, "model.h": 2,
            "training.train_steps": 40, "training.log_every": 1, "training.validate_every": 4,
            "training.checkpoint_every": 6, "training.average_last": 3, "training.warmup_steps": 10,
            "training.diagnostics_every": 5,
            "decoding.beam": 2, "decoding.max_extra_length": 3,
        }
        values.update({key.replace("__", "."): value for key, value in changes.items()})
        return [f"{key}={value}" for key, value in values.items()]

    def train_words(self, out, **changes):
        return ["train", "configs/mini.json", "--out", self / out, *self.config(**changes)]


class FaultCase(unittest.TestCase):
    """A test with a place and a seeded stream of choices."""

    sizes = {}

    def setUp(self):
        self.place = Place(**self.sizes)
        self.addCleanup(self.place.remove)
        self.random = random.Random(f"{SEED} {self.id()}")

    def complete(self, words):
        code, messages = run(*words)
        self.assertEqual(code, 0, messages)
        return messages

    def assert_same_contents(self, folder, reference):
        got, want = contents(folder), contents(reference)
        self.assertEqual(sorted(got), sorted(want))
        for name, value in want.items():
            self.assertTrue(got[name] == value, f"{folder / name} is not what an unbroken run wrote")


def stopped_when(process, moment, seconds):
    """Looks again and again, the process standing still each time it may be so, until `moment` is: it stays
    stopped then. False where it ended before, or `seconds` passed."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        if not moment():
            time.sleep(0.0002)
            continue
        os.kill(process.pid, signal.SIGSTOP)
        wait_until_stopped(process)
        if process.poll() is None and moment():
            return True
        os.kill(process.pid, signal.SIGCONT)
    return False


def stop_at_step(process, folder, step):
    """Stops it once that step's line, or a later one, stands in the metrics."""
    reached = lambda: last_metrics_line(folder).get("step", 0) >= step
    assert stopped_when(process, reached, PATIENCE), process.communicate()


def last_metrics_line(folder):
    try:
        text = (folder / "metrics.jsonl").read_text()
        return json.loads(text[: text.rindex("\n")].rpartition("\n")[2])
    except (OSError, ValueError):
        return {}


def identity(path):
    try:
        return path.stat().st_ino, path.stat().st_mtime_ns
    except OSError:
        return None


# Each of these is made before a process starts and tells moments of that process, not of one before it.

def inside_a_checkpoint(folder):
    def unfinished():  # an old one that is going away has such a name too
        newest = max((step_of(path) for path in checkpoints(folder)), default=0)
        return {identity(path) for path in (folder / "checkpoints").glob(".tmp-step-*")
                if int(path.name.removeprefix(".tmp-step-")) > newest}
    before = unfinished()
    return lambda: bool(unfinished() - before - {None})


def inside_validation(folder, every):
    """Its step's line stands there, the line that it will write does not."""
    before = identity(folder / "metrics.jsonl")

    def is_now():
        line = last_metrics_line(folder)
        return "loss" in line and line["step"] % every == 0 and identity(folder / "metrics.jsonl") != before
    return is_now


def inside_the_last_evaluation(folder):
    before = identity(folder / "model.safetensors")
    return lambda: (identity(folder / "model.safetensors") not in (before, None)
                    and not (folder / "result.json").exists())


def checkpoints(folder):
    return sorted((folder / "checkpoints").glob("step-*"))


def step_of(checkpoint):
    return int(checkpoint.name.removeprefix("step-"))


def wait_until_stopped(process):
    """A signal is delivered when the process next enters or leaves the kernel: until then it goes on."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state in "TZ":
            return
        time.sleep(0.0002)


def go_on(process):
    os.kill(process.pid, signal.SIGCONT)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()
