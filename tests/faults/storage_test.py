"""Full disks, read-only folders, files that are removed, cut or changed by a bit: each is named, and nothing sound is lost."""

import ctypes
import os
import shutil
import subprocess
import unittest

from program import (LINES, LONG, PATIENCE, FaultCase, checkpoints, finish, go_on, last_metrics_line, metrics, run,
                     start, step_of, stop_at_step)

CUTS = 60 if LONG else 3
FLIPS = 200 if LONG else 8
CLONE_NEWNS = 0x20000


def mount(*words):
    return subprocess.run(["mount", *map(str, words)], capture_output=True).returncode == 0


def with_own_mounts():
    """From now on what this process mounts is seen by it and its children alone, and gone when it ends."""
    try:
        return ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) == 0 and mount("--make-rprivate", "/")
    except (AttributeError, OSError):
        return False


class Storage(FaultCase):
    def interrupted(self, name):
        """A run with several checkpoints that has not come to its end."""
        process = start(*self.place.train_words(name))
        stop_at_step(process, self.place / name, 27)
        process.kill()
        process.communicate()
        return self.place / name


class Mounts(Storage):
    @classmethod
    def setUpClass(cls):
        if not with_own_mounts():
            raise unittest.SkipTest("mounting is not allowed here: full disk and read-only folder are not tried")

    def disk_of(self, name, size):
        folder = self.place / name
        folder.mkdir()
        self.assertTrue(mount("-t", "tmpfs", "-o", f"size={size}", "none", folder))
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def test_a_disk_too_small_for_the_checkpoints_is_said_before_training(self):
        disk = self.disk_of("small", "1m")
        code, messages = run(*self.place.train_words("small/run"))
        self.assertEqual(code, 1, messages)
        self.assertRegex(messages, r"small/run: the checkpoints and the model need [0-9.]+ MiB, but the disk has")
        self.assertEqual(list((disk / "run").glob("checkpoints/*")), [])

    def test_a_disk_that_fills_up_keeps_the_last_checkpoint_and_the_run_goes_on_with_room(self):
        self.complete(self.place.train_words("unbroken"))
        disk = self.disk_of("disk", "16m")
        process = start(*self.place.train_words("disk/run"))
        stop_at_step(process, disk / "run", 14)
        subprocess.run(["dd", "if=/dev/zero", f"of={disk / 'filler'}", "bs=4k"], capture_output=True)
        go_on(process)
        code, messages = finish(process)
        self.assertEqual(code, 1, messages)
        self.assertIn("No space left on device", messages)
        self.assertGreaterEqual(step_of(checkpoints(disk / "run")[-1]), 12)
        os.remove(disk / "filler")
        self.complete(self.place.train_words("disk/run"))
        self.assert_same_contents(disk / "run", self.place / "unbroken")

    def test_a_read_only_folder_is_named_and_what_lies_there_can_be_used(self):
        self.complete(self.place.train_words("done"))
        self.interrupted("half")
        for name in ("done", "half"):
            self.assertTrue(mount("--bind", self.place / name, self.place / name))
            self.addCleanup(subprocess.run, ["umount", "-l", self.place / name])
            self.assertTrue(mount("-o", "remount,ro,bind", self.place / name))
            code, messages = run(*self.place.train_words(name))
            self.assertEqual(code, 1, messages)
            self.assertIn(f"{name}/lock: cannot create: Read-only file system", messages)
        self.assertEqual(run("check", self.place / "done")[0], 0)
        for name in ("done", "half"):
            self.complete(["evaluate", "--checkpoint", self.place / name, "--data", self.place / "data/test"])


class Removals(Storage):
    def running(self, name, step):
        process = start(*self.place.train_words(name))
        stop_at_step(process, self.place / name, step)
        return process

    def test_what_is_removed_from_a_run_at_work_is_written_again_or_named(self):
        self.complete(self.place.train_words("unbroken"))
        process = self.running("metrics", 15)
        os.remove(self.place / "metrics/metrics.jsonl")
        os.remove(self.place / "metrics/vocabulary.model")
        go_on(process)
        code, messages = finish(process)
        self.assertEqual(code, 0, messages)
        self.assertIn("metrics.jsonl: was removed meanwhile; written again, nothing is lost", messages)
        self.complete(self.place.train_words("metrics"))  # brings the vocabulary back
        self.assert_same_contents(self.place / "metrics", self.place / "unbroken")
        for name in ("run", "lock"):
            process = self.running(name, 15)
            shutil.rmtree(self.place / "run") if name == "run" else os.remove(self.place / "lock/lock")
            go_on(process)
            code, messages = finish(process)
            self.assertEqual(code, 1, messages)
            self.assertIn(f"{name}: was removed or replaced", messages)
            self.complete(self.place.train_words(name))
            self.assert_same_contents(self.place / name, self.place / "unbroken")

    def test_a_removed_checkpoint_costs_the_steps_after_the_one_before_it(self):
        self.complete(self.place.train_words("unbroken"))
        folder = self.interrupted("run")
        shutil.rmtree(checkpoints(folder)[-1])
        left = step_of(checkpoints(folder)[-1])
        self.assertIn(f"goes on after step {left}", self.complete(self.place.train_words("run")))
        self.assert_same_contents(folder, self.place / "unbroken")


class Damage(Storage):
    def test_a_checkpoint_cut_at_any_length_is_named_and_the_one_before_it_used(self):
        self.complete(self.place.train_words("unbroken"))
        sound = self.interrupted("sound")
        for i in range(CUTS):
            folder = self.place / f"cut-{i}"
            shutil.copytree(sound, folder)
            newest = checkpoints(folder)[-1]
            file = newest / ("model.safetensors", "optimizer.safetensors", "progress.json")[i % 3]
            length = self.random.randrange(file.stat().st_size)
            os.truncate(file, length)
            with self.subTest(file=file.name, length=length):
                messages = self.complete(self.place.train_words(folder.name))
                self.assertIn(f"a checkpoint is damaged: {file}", messages)
                used = step_of(checkpoints(sound)[-2])
                self.assertIn(f"goes on after step {used}; what was trained after it, up to step {step_of(newest)}, "
                              "is lost and trained again", messages)
                self.assert_same_contents(folder, self.place / "unbroken")
            shutil.rmtree(folder)
        print(f"\ncheckpoints cut and passed over: {CUTS}", flush=True)

    def test_with_no_sound_checkpoint_left_all_is_trained_again(self):
        self.complete(self.place.train_words("unbroken"))
        folder = self.interrupted("run")
        for path in checkpoints(folder):
            os.truncate(path / "model.safetensors", 100)
        last = step_of(checkpoints(folder)[-1])
        self.assertIn(f"no checkpoint is sound: all {last} steps are lost and trained again",
                      self.complete(self.place.train_words("run")))
        self.assert_same_contents(folder, self.place / "unbroken")

    def test_a_flipped_bit_in_any_file_is_named_and_the_end_is_the_same(self):
        self.complete(self.place.train_words("unbroken"))
        states = {"half": self.interrupted("half"), "done": self.place / "unbroken"}
        for i in range(FLIPS):
            state = ("half", "done")[i % 2]
            folder = self.place / f"flip-{i}"
            shutil.copytree(states[state], folder)
            # Of checkpoints the newest is what a run goes on from; a complete run uses none.
            used = checkpoints(folder)[-1:] if state == "half" else []
            files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "lock"
                     and (path.parent == folder or path.parent in used)]
            file = self.random.choice(files)
            bit = self.random.randrange(8 * file.stat().st_size)
            content = bytearray(file.read_bytes())
            content[bit // 8] ^= 1 << bit % 8
            file.write_bytes(content)
            with self.subTest(state=state, file=file.name, bit=bit):
                code, found = run("check", folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                self.assertEqual(code, 1)
                self.assertIn(str(file), found)
                messages = self.complete(self.place.train_words(folder.name))
                self.assertIn(str(file), messages)
                if file.name in LINES:  # the files that cannot be made from others
                    if state == "half":
                        kept, want = metrics(folder, file.name), metrics(self.place / "unbroken", file.name)
                        self.assertTrue(all(line in want for line in kept))
                        self.assertGreaterEqual(len(kept), len(want) - 2)
                    file.write_bytes((self.place / "unbroken" / file.name).read_bytes())
                self.assert_same_contents(folder, self.place / "unbroken")
            shutil.rmtree(folder)
        print(f"\nbits flipped under the real program and found: {FLIPS}", flush=True)


if __name__ == "__main__":
    unittest.main()
