"""SIGINT, SIGTERM and SIGUSR1 end the step under way and leave a checkpoint; a second one ends all at once."""

import json
import os
import signal
import unittest

from program import (PATIENCE, FaultCase, checkpoints, finish, go_on, inside_a_checkpoint, inside_the_last_evaluation,
                     inside_validation, kill, last_metrics_line, metrics, start, step_of, stop_at_step, stopped_when)

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGUSR1: 138}


class Signals(FaultCase):
    def test_each_ends_the_step_with_a_checkpoint_and_its_own_exit_code(self):
        words = lambda name: self.place.train_words(name, training__checkpoint_every=1000)
        self.complete(words("unbroken"))
        for number, code in SIGNALS.items():
            with self.subTest(signal=number.name):
                folder = self.place / number.name
                process = start(*words(number.name))
                stop_at_step(process, folder, self.random.randrange(1, 30))
                os.kill(process.pid, number)
                go_on(process)
                got, messages = finish(process)
                self.assertEqual(got, code, messages)
                self.assertFalse((folder / "result.json").exists())
                (left,) = checkpoints(folder)
                self.assertEqual(step_of(left), last_metrics_line(folder)["step"])
                self.assertIn(f"goes on after step {step_of(left)}", self.complete(words(number.name)))
                self.assertEqual(metrics(folder), metrics(self.place / "unbroken"))
                for name in ("model.safetensors", "checkpoints/step-000000040/optimizer.safetensors"):
                    self.assertEqual((folder / name).read_bytes(), (self.place / "unbroken" / name).read_bytes())

    def test_the_second_ends_at_once_and_what_was_written_stays(self):
        self.complete(self.place.train_words("unbroken"))
        for first, second in ((signal.SIGINT, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)):
            with self.subTest(first=first.name, second=second.name):
                folder = self.place / f"{first.name}-{second.name}"
                # The worst moment: a checkpoint is half-written, another whole.
                is_writing = inside_a_checkpoint(folder)
                process = start(*self.place.train_words(folder.name))
                late = lambda: checkpoints(folder) and is_writing()
                self.assertTrue(stopped_when(process, late, PATIENCE))
                before = [(path.name, path.read_bytes()) for path in sorted(checkpoints(folder)[-1].iterdir())]
                os.kill(process.pid, first)
                if first == second:  # of one number, one at a time
                    go_on(process)
                os.kill(process.pid, second)
                go_on(process)
                code, messages = finish(process)
                self.assertIn(code, (130, 143))
                if first != second:  # both came before another instruction
                    self.assertTrue(is_writing(), "it went on writing")
                    self.assertNotIn("stopped with a checkpoint", messages)
                    after = [(path.name, path.read_bytes()) for path in sorted(checkpoints(folder)[-1].iterdir())]
                    self.assertEqual(before, after)
                self.complete(self.place.train_words(folder.name))
                self.assertEqual(metrics(folder), metrics(self.place / "unbroken"))
                self.assertEqual((folder / "model.safetensors").read_bytes(),
                                 (self.place / "unbroken/model.safetensors").read_bytes())

    def test_sigterm_after_sigusr1_does_not_cost_the_checkpoint(self):
        folder = self.place / "run"
        process = start(*self.place.train_words("run", training__checkpoint_every=1000))
        stop_at_step(process, folder, 3)
        os.kill(process.pid, signal.SIGUSR1)
        os.kill(process.pid, signal.SIGTERM)
        go_on(process)
        code, messages = finish(process)
        self.assertIn(code, (138, 143), messages)
        self.assertEqual(len(checkpoints(folder)), 1)


class LongValidation(FaultCase):
    sizes = {"valid": 4000}

    def test_validation_is_left_at_once_and_done_when_the_run_goes_on(self):
        changes = {"training__train_steps": 6, "training__validate_every": 3, "data__tokens_per_batch": 100}
        words = lambda name: self.place.train_words(name, **changes, decoding__beam=1)
        folder = self.place / "run"
        for _ in range(2):
            moment = inside_validation(folder, 3)
            process = start(*words("run"))
            self.assertTrue(stopped_when(process, moment, PATIENCE))
            step = last_metrics_line(folder)["step"]
            os.kill(process.pid, signal.SIGINT)
            go_on(process)
            code, messages = finish(process)
            self.assertEqual(code, 130, messages)
            progress = json.loads((checkpoints(folder)[-1] / "progress.json").read_text())
            self.assertEqual((progress["step"], progress["validation_due"]), (step, True))
        # Killed between that validation's line and the next checkpoint, the line must not come twice.
        process = start(*words("run"))
        if stopped_when(process, lambda: "valid_perplexity" in last_metrics_line(folder), PATIENCE):
            process.kill()
        process.communicate()
        process = start(*words("run"))
        self.assertTrue(stopped_when(process, inside_the_last_evaluation(folder), PATIENCE))
        kill(process)  # the rest is translation
        steps = [(line["step"], "loss" in line) for line in metrics(folder)]
        self.assertEqual(steps, [(1, True), (2, True), (3, True), (3, False), (4, True), (5, True), (6, True), (6, False)])


if __name__ == "__main__":
    unittest.main()
