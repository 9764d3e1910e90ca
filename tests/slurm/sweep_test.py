"""A sweep on a real Slurm: cancelled, requeued and put off in mid-run, it ends as one never stopped."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from cluster import Cluster, Unavailable  # noqa: E402
from program import ENVIRONMENT, PATIENCE, FaultCase, last_metrics_line, start  # noqa: E402

STEPS = 100
ROWS = ("d_ff-8", "d_ff-16", "d_ff-24")


class SlurmSweeps(FaultCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.cluster = Cluster(cpus=len(ROWS), environment=ENVIRONMENT)
        except Unavailable as reason:
            raise unittest.SkipTest(f"no Slurm here: {reason}")
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cluster.cancel_all)  # before the place goes where they work

    def words(self, out, *more, **changes):
        config = self.place.config(**{"training__train_steps": STEPS, "training__validate_every": 40,
                                      "training__checkpoint_every": 60, "model__d_ff": "8,16,24", **changes})
        return ["sweep", "configs/mini.json", "--out", self.place / out, "--threads", 1, *more, *config]

    def slurm(self, out, *more, **changes):
        """Calls the sweep with Slurm. Returns what it printed of the runs, and its messages."""
        return self.answered(*self.words(out, "--launcher", "slurm", *more, **changes))

    def answered(self, *words):
        process = start(*words, stdout=subprocess.PIPE)
        out, messages = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, messages)
        return out, messages

    def printed(self, *words):
        return self.answered(*words)[0]

    def folder(self, out, row):
        return self.place / out / row / "seed-1"

    def queue(self):
        """The tasks that Slurm has in hand, and their states."""
        lines = self.cluster.ask("squeue", "--noheader", "--array", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def wait_until(self, holds, what):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), deadline, f"{what}: waited in vain; {self.cluster.last_words()}")
            time.sleep(0.02)

    def wait_until_ended(self, task):
        self.wait_until(lambda: task not in self.queue(), f"the end of task {task}")

    def hold_in_mid_run(self, folders):
        """Stops the process of each run once it is some steps on. Returns their ids."""
        held = {}

        def all_held():
            for folder in folders:
                if folder not in held and last_metrics_line(folder).get("step", 0) >= STEPS // 10:
                    held[folder] = int((folder / "lock").read_text().split()[0])
                    os.kill(held[folder], signal.SIGSTOP)
            return len(held) == len(folders)
        self.wait_until(all_held, "runs in their midst")
        for folder in folders:
            self.assertFalse((folder / "result.json").exists(), "it was too quick to be stopped in mid-run")
        return held.values()

    def job(self, messages):
        return messages.partition("as job array ")[2].split()[0]

    def test_runs_that_are_cancelled_requeued_or_put_off_end_as_if_never_stopped(self):
        self.complete(self.words("unbroken", "--jobs", 1))
        out = "it's 100% $(touch slurm)"  # nothing in a name is anything to a shell, or to Slurm
        script, _ = self.slurm(out, "--dry-run")
        self.assertIn("#SBATCH --array=0-2\n", script)
        self.assertFalse((self.place / out).exists(), "the dry run writes nothing")
        self.assertEqual(self.queue(), {}, "nor submits")

        table, messages = self.slurm(out, "--time-limit", "1h")
        self.assertIn("3 runs: 3 missing", table)
        job = self.job(messages)
        tasks = {row: f"{job}_{number}" for number, row in enumerate(ROWS)}
        held = self.hold_in_mid_run([self.folder(out, row) for row in ROWS])
        table, messages = self.slurm(out)
        self.assertIn("3 runs: 3 running", table)
        self.assertIn("nothing to submit", messages)
        self.assertEqual(self.queue(), {task: "RUNNING" for task in tasks.values()})

        requeued, cancelled, put_off = ROWS
        self.cluster.let_nothing_start()
        self.cluster.ask("scontrol", "requeue", tasks[requeued])
        self.cluster.ask("scancel", tasks[cancelled])
        self.cluster.ask("scancel", "--batch", "--signal=USR1", tasks[put_off])
        for pid in held:
            os.kill(pid, signal.SIGCONT)
        self.wait_until_ended(tasks[cancelled])
        for row in (requeued, put_off):
            self.wait_until(lambda: self.queue().get(tasks[row]) == "PENDING", f"{row} in the queue again")
            self.assertFalse((self.folder(out, row) / "result.json").exists())
        table, messages = self.slurm(out)
        self.assertRegex(table, rf"{cancelled} seed 1 +interrupted +at step \d+ of {STEPS}; task {tasks[cancelled]}: CANCELLED")
        self.assertRegex(table, rf"{requeued} seed 1 +queued +task {tasks[requeued]}\b")
        self.assertIn("3 runs: 1 interrupted, 2 queued", table)
        self.assertIn("submitted 1 run as job array", messages)
        watched = self.printed("watch", self.place / out)
        self.assertRegex(watched, rf"{requeued} seed 1 +queued +task {tasks[requeued]}\b")
        self.assertRegex(watched, r"0 of 3 runs complete, 3 queued")

        self.assertEqual(set(self.queue().values()), {"PENDING"})
        self.cluster.let_all_start()
        self.wait_until(lambda: not self.queue(), "the end of all")
        table, messages = self.slurm(out)
        self.assertIn("3 runs: 3 complete", table)
        self.assertIn("nothing to submit", messages)
        for row in ROWS:
            self.assert_same_contents(self.folder(out, row), self.folder("unbroken", row))
            log = (self.folder(out, row) / "log.txt").read_text()
            self.assertEqual(log.count("stopped with a checkpoint"), 1, log)
            self.assertEqual(log.count("goes on after step"), 1, log)
        logs = "".join(path.read_text() for path in (self.place / out / "slurm").glob("*.log"))
        self.assertIn(f"task {tasks[put_off]} is in the queue again", logs)
        self.assertIn("Runs complete: 3 of 3.", self.printed("table", self.place / out))
        self.assertEqual(list(Path().glob("slurm")), [], "a name was taken for a command")

    def test_a_run_that_fails_is_told_of_and_submitted_again(self):
        words = {"data__train": self.place / "nowhere", "model__d_ff": "8,16"}
        job = self.job(self.slurm("failing", "--sbatch", "comment=it's", **words)[1])
        self.wait_until_ended(f"{job}_0")
        self.wait_until_ended(f"{job}_1")
        self.assertRegex(self.printed("watch", self.place / "failing"), r"d_ff-8 seed 1 +failed +.*nowhere")
        table, messages = self.slurm("failing", "--rows", "d_ff-16", **words)
        self.assertRegex(table, rf"d_ff-16 seed 1 +failed +.*nowhere.*; task {job}_1: FAILED")
        self.assertIn("submitted 1 run as job array", messages)


if __name__ == "__main__":
    unittest.main()
