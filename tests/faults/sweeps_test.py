"""A sweep that is killed again and again ends as one never stopped, and never runs a run twice at once."""

import json
import os
import signal
import time
import unittest
from collections import Counter
from pathlib import Path

from program import LONG, PATIENCE, FaultCase, contents, finish, kill, start, stop_at_step, stopped_when, wait_until_stopped

KILLS = 40 if LONG else 5
ROWS = ("d_ff-8", "d_ff-16", "d_ff-24")


def children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


class Sweeps(FaultCase):
    def words(self, out, *more, **changes):
        config = self.place.config(**{"training__train_steps": 20, "model__d_ff": "8,16,24", **changes})
        return ["sweep", "configs/mini.json", "--out", self.place / out, "--threads", 1, *more, *config]

    def runs(self, out):
        return {row: self.place / out / row / "seed-1" for row in ROWS}

    def states(self, out):
        results = json.loads((self.place / out / "results.json").read_text())
        return {run["id"]: run["state"] for run in results["results"]}

    def assert_same_runs(self, out, reference):
        for row, folder in self.runs(out).items():
            self.assert_same_contents(folder, self.runs(reference)[row])
        self.assertEqual(set(self.states(out).values()), {"complete"})

    def between_two_runs(self, out):
        """One run is complete, and the next has not been given its folder's config."""
        folders = list(self.runs(out).values())
        before = sum((folder / "result.json").exists() for folder in folders)

        def is_now():
            done = sum((folder / "result.json").exists() for folder in folders)
            begun = sum((folder / "log.txt").exists() for folder in folders)
            return before < done == begun < len(folders)
        return is_now

    def test_a_sweep_killed_at_random_moments_ends_as_one_never_stopped(self):
        self.complete(self.words("unbroken", "--jobs", 1))
        counts, sweeps = Counter(), 0
        deck = []
        while sum(counts.values()) < KILLS:
            out = f"sweep-{sweeps}"
            sweeps += 1
            while True:
                between = self.between_two_runs(out)
                process = start(*self.words(out, "--jobs", 1 + sweeps % 2))
                if not deck:
                    deck = ["between two runs", "the sweep", "the sweep and its runs"]
                    self.random.shuffle(deck)
                kind = deck.pop()
                if sum(counts.values()) < KILLS:
                    if kind == "between two runs":
                        is_hit = stopped_when(process, between, 60)
                    else:
                        stopped_when(process, lambda: False, self.random.uniform(0.3, 2.0))
                        is_hit = process.poll() is None
                    if is_hit:
                        counts[kind] += 1
                        if kind == "the sweep and its runs":
                            os.kill(process.pid, signal.SIGSTOP)
                            wait_until_stopped(process)
                            for child in children(process.pid):
                                os.kill(child, signal.SIGKILL)
                        kill(process)
                        continue
                code, messages = finish(process)
                self.assertEqual(code, 0, messages)
                break
            self.assert_same_runs(out, "unbroken")
            for folder in self.runs(out).values():
                self.assertNotIn("in use by another process", (folder / "log.txt").read_text())
        print(f"\nkills of sweeps survived: {sum(counts.values())} over {sweeps} sweeps: {dict(counts)}", flush=True)

    def test_a_run_that_is_alive_is_found_and_not_started_twice(self):
        self.complete(self.words("unbroken", "--jobs", 1))
        folder = self.runs("sweep")["d_ff-16"]
        alive = start("train", "configs/mini.json", "--out", folder,
                      *self.place.config(training__train_steps=20, model__d_ff=16))
        stop_at_step(alive, folder, 5)
        process = start(*self.words("sweep", "--jobs", 2))
        others = [run for row, run in self.runs("sweep").items() if row != "d_ff-16"]
        deadline = time.monotonic() + PATIENCE
        while not all((run / "result.json").exists() for run in others):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertIsNone(process.poll(), "it waits for the run that another process is at work on")
        self.assertEqual(self.states("sweep")["d_ff-16"], "running")
        os.kill(alive.pid, signal.SIGCONT)
        code, messages = finish(alive)
        self.assertEqual(code, 0, messages)
        code, messages = finish(process)
        self.assertEqual(code, 0, messages)
        self.assertIn("d_ff-16: another process is at work on it", messages)
        self.assertFalse((folder / "log.txt").exists(), "the sweep started it too")
        self.assert_same_runs("sweep", "unbroken")

    def test_a_run_past_its_time_is_ended_with_a_checkpoint_and_goes_on_another_time(self):
        words = lambda *more: self.words("sweep", "--rows", "d_ff-8", *more, training__train_steps=1000000,
                                         training__checkpoint_every=1000000, training__log_every=1000,
                                         training__validate_every=0, training__diagnostics_every=0)
        code, messages = finish(start(*words("--time-limit", "3s")))
        self.assertEqual(code, 1, messages)
        self.assertRegex(messages, r"d_ff-8: failed: ended after its time limit of 3 s, after step [1-9]")
        self.assertRegex(finish(start(*words("--time-limit", "3s")))[1], r"failed: ended after its time limit of 3 s")
        self.assertIn("goes on after step", (self.runs("sweep")["d_ff-8"] / "log.txt").read_text())


if __name__ == "__main__":
    unittest.main()
