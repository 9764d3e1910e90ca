"""What another number of threads may change: how sums are rounded, and nothing else."""

import unittest

from program import FaultCase, metrics


class Determinism(FaultCase):
    def test_threads_change_rounding_alone(self):
        runs = {}
        for threads in (1, 2):
            self.complete([*self.place.train_words(f"threads-{threads}"), "--threads", threads])
            runs[threads] = metrics(self.place / f"threads-{threads}")
        self.assertEqual(len(runs[1]), len(runs[2]))
        for one, two in zip(runs[1], runs[2]):
            for key in ("step", "source_tokens", "target_tokens", "learning_rate"):
                self.assertEqual(one.get(key), two.get(key))
            for key in ("loss", "nll", "valid_perplexity"):  # of other batches or dropout it would be another
                if key in one:
                    self.assertAlmostEqual(one[key], two[key], delta=1e-3 * one[key])

    def test_the_same_threads_give_the_same_bytes(self):
        for name in ("one", "two"):
            self.complete(self.place.train_words(name))
        self.assert_same_contents(self.place / "one", self.place / "two")


if __name__ == "__main__":
    unittest.main()
