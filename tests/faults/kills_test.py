"""A run that is killed again and again ends as one that never was: weights, moments, averages, metrics, result."""

import unittest
from collections import Counter

from program import (LONG, FaultCase, inside_a_checkpoint, inside_the_last_evaluation, inside_validation, kill,
                     last_metrics_line, start, stopped_when)

KILLS = 100 if LONG else 10
STEPS = 40
EVERY = 4  # steps from validation to validation


class Kills(FaultCase):
    def test_a_run_killed_at_random_moments_ends_as_one_never_stopped(self):
        self.complete(self.place.train_words("unbroken", training__train_steps=STEPS, training__validate_every=EVERY))
        counts, runs, resumed = Counter(), 0, 0
        deck = []
        while sum(counts.values()) < KILLS:
            folder = self.place / f"run-{runs}"
            runs += 1
            while not (folder / "result.json").exists():
                moments = {"inside a checkpoint's writing": inside_a_checkpoint(folder),
                           "inside validation": inside_validation(folder, EVERY),
                           "inside the last evaluation": inside_the_last_evaluation(folder)}
                process = start(*self.place.train_words(folder.name, training__train_steps=STEPS,
                                                        training__validate_every=EVERY))
                if not deck:
                    deck = [*moments, "at any moment", "at any moment"]
                    self.random.shuffle(deck)
                kind = deck.pop()
                if sum(counts.values()) < KILLS:
                    if kind == "at any moment":
                        stopped_when(process, lambda: False, self.random.uniform(0.0, 1.0))
                        is_hit = process.poll() is None
                    else:
                        # Not always the first such moment.
                        first = last_metrics_line(folder).get("step", 0) + self.random.randrange(STEPS // 2)
                        late = lambda: last_metrics_line(folder).get("step", 0) >= min(first, STEPS - EVERY)
                        is_hit = stopped_when(process, lambda: late() and moments[kind](), 60)
                    if is_hit:
                        counts[kind] += 1
                        kill(process)
                        continue
                _, messages = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0, messages)
                resumed += "goes on after step" in messages
            self.assert_same_contents(folder, self.place / "unbroken")
        print(f"\nkills survived: {sum(counts.values())} over {runs} runs: {dict(counts)}", flush=True)
        self.assertGreater(resumed, 0)
        for kind in moments:
            self.assertGreater(counts[kind], 0, f"no kill {kind}: take another seed")


if __name__ == "__main__":
    unittest.main()
