"""One training in several processes: it is the training of one; a rank that dies or hangs ends the others."""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
import unittest

from program import ENVIRONMENT, PATIENCE, PROGRAM, ROOT, FaultCase, checkpoints, last_metrics_line, metrics, run, step_of

TIMEOUT = 5  # seconds, of a rank
ROUNDING = 2e-5  # of float32 sums in another order, after some steps


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def variables(rank, ranks, port, address="127.0.0.1"):
    return {**ENVIRONMENT, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
            "MASTER_ADDR": address, "MASTER_PORT": str(port)}


def start_ranks(words, ranks=2, timeout=TIMEOUT, folders=None):
    """All ranks of one training. Each may run in a folder of its own."""
    port = free_port()
    return [subprocess.Popen([PROGRAM, *map(str, words), "--rank-timeout", f"{timeout}s"],
                             cwd=folders[rank] if folders else ROOT, env=variables(rank, ranks, port),
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(ranks)]


def finish_all(processes):
    """Exit codes, and what each has printed."""
    ends = [process.communicate(timeout=PATIENCE) for process in processes]
    return [process.returncode for process in processes], [out + messages for out, messages in ends]


def tensors(path):
    """Names to lists of floats, of a safetensors file in float32."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", entry
        found[name] = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin : 8 + size + end])
    return found


def is_built():
    words = [PROGRAM, "train", "configs/mini.json", "--out", "nowhere", "--rank-timeout", "1s"]
    process = subprocess.run(words, cwd=ROOT, env=variables(1, 2, free_port()), capture_output=True, text=True)
    return "built without data parallel" not in process.stderr  # else it does not find rank 0


class Ranks(FaultCase):
    @classmethod
    def setUpClass(cls):
        if not is_built():
            raise unittest.SkipTest("this program was built without data parallel training")

    def words(self, name, **changes):
        """Trainings that can be compared: without dropout, and with Adam's epsilon so large that a rounding error
        in a gradient near zero is not taken for its sign."""
        changes = {"model__P_drop": 0, "training__epsilon": 1e-3, "training__train_steps": 20, **changes}
        return self.place.train_words(name, **changes)

    def complete_ranks(self, words, ranks=2):
        codes, messages = finish_all(start_ranks(words, ranks))
        self.assertEqual(codes, [0] * ranks, messages)
        return messages

    def wait_for_step(self, folder, step, processes):
        deadline = time.monotonic() + PATIENCE
        while last_metrics_line(folder).get("step", 0) < step:
            self.assertLess(time.monotonic(), deadline)
            self.assertTrue(all(process.poll() is None for process in processes), "ended too early")
            time.sleep(0.01)


class SameTraining(Ranks):
    def assert_same_training(self, folder, reference):
        """To rounding; sentences, steps and tokens exactly."""
        got, want = metrics(folder), metrics(reference)
        self.assertEqual(len(got), len(want))
        for mine, alone in zip(got, want):
            self.assertEqual(sorted(mine), sorted(alone))
            for key, value in alone.items():
                delta = 0 if key in ("step", "source_tokens", "target_tokens") else ROUNDING * abs(value)
                self.assertAlmostEqual(mine[key], value, delta=delta, msg=f"{key} of step {mine['step']}")
        mine, alone = (tensors(path / "model.safetensors") for path in (folder, reference))
        self.assertEqual(sorted(mine), sorted(alone))
        for name, values in alone.items():
            scale = max(map(abs, values))
            worst = max(abs(a - b) for a, b in zip(mine[name], values))
            self.assertLessEqual(worst, 10 * ROUNDING * scale, name)

    def test_processes_with_a_part_of_each_batch_train_as_one_with_all_of_it(self):
        for ranks, changes in ((2, {}), (3, {"training__accumulate": 4}), (4, {"data__tokens_per_batch": 40}),
                               (2, {"training__clip_norm": 0.5})):
            with self.subTest(ranks=ranks, **changes):
                name = "-".join([str(ranks), *changes])
                self.complete(self.words(f"{name}-alone", **changes))
                self.complete_ranks(self.words(name, **changes), ranks)
                self.assert_same_training(self.place / name, self.place / f"{name}-alone")

    def test_the_same_ranks_give_the_same_bytes(self):
        for name in ("one", "two"):
            self.complete_ranks(self.words(name, model__P_drop=0.3), 3)
        self.assert_same_contents(self.place / "one", self.place / "two")

    def test_a_training_goes_on_with_another_number_of_ranks(self):
        self.complete(self.words("alone", training__checkpoint_every=1000))
        for ranks in (1, 3):
            folder = self.place / f"from-2-to-{ranks}"
            words = self.words(folder.name, training__checkpoint_every=1000)
            processes = start_ranks(words)
            self.wait_for_step(folder, 5, processes)
            processes[1].send_signal(signal.SIGTERM)  # it alone: all stop
            codes, messages = finish_all(processes)
            self.assertEqual(codes, [143, 143], messages)
            (left,) = checkpoints(folder)
            self.assertEqual(step_of(left), last_metrics_line(folder)["step"])
            if ranks == 1:
                self.complete(words)
            else:
                messages = self.complete_ranks(words, ranks)
                self.assertIn("goes on after step", messages[0])
            self.assert_same_training(folder, self.place / "alone")

    def test_a_divergence_is_found_and_left_as_in_one_process(self):
        words = self.words("run", training__schedule="constant", training__learning_rate="1e25",
                           training__warmup_steps=0, model__P_drop=0.1)
        codes, messages = finish_all(start_ranks(words))
        self.assertEqual(codes, [3, 3], messages)
        self.assertIn("is not finite; nothing of this step was kept. First tensor: ", messages[0])
        self.assertRegex(messages[1], r"^transformer: step [0-9]+: .* is not finite; rank 0 says more\n$")
        self.assertTrue((self.place / "run/divergence.json").exists())
        code, messages = run("train", "--replay", self.place / "run/diverged.safetensors")
        self.assertEqual(code, 3, messages)  # with the finding that the dump states

    def test_only_rank_0_writes_and_speaks(self):
        folders = [self.place / "here-0", self.place / "here-1"]
        for folder in folders:
            folder.mkdir()
        config = ROOT / "configs/mini.json"
        words = ["train", config, "--out", "run", *self.words("unused")[4:]]
        codes, messages = finish_all(start_ranks(words, folders=folders))
        self.assertEqual(codes, [0, 0], messages)
        self.assertTrue((folders[0] / "run/result.json").exists())
        self.assertEqual(list(folders[1].iterdir()), [])
        self.assertIn("perplexity", messages[0])
        self.assertEqual(messages[1], "")


class Lost(Ranks):
    def train_words(self, name):
        return self.words(name, training__train_steps=150, model__P_drop=0.1)

    def lose(self, name, rank, number, ranks=2):
        """Sends one of the ranks a signal in mid-run. Returns the others' exit codes and messages, and how long that
        took."""
        folder = self.place / name
        processes = start_ranks(self.train_words(name), ranks)
        self.wait_for_step(folder, self.random.randrange(10, 60), processes)
        began = time.monotonic()
        processes[rank].send_signal(number)
        others = [process for process in processes if process is not processes[rank]]
        codes, messages = finish_all(others)
        took = time.monotonic() - began
        processes[rank].kill()
        processes[rank].communicate()
        return codes, messages, took

    def assert_ended(self, codes, messages, rank, took, limit):
        self.assertEqual(codes, [1] * len(codes), messages)
        for text in messages:
            self.assertRegex(text, rf"step [0-9]+: rank {rank}[, ]")
        self.assertLess(took, limit)

    def assert_goes_on(self, name):
        messages = self.complete_ranks(self.train_words(name))
        self.assertIn("goes on after step", messages[0])
        self.assert_same_contents(self.place / name, self.place / "unbroken")

    def test_a_rank_that_is_killed_ends_the_others_by_name_and_the_run_goes_on(self):
        self.complete_ranks(self.train_words("unbroken"))
        for rank in (0, 1):
            with self.subTest(rank=rank):
                name = f"killed-{rank}"
                codes, messages, took = self.lose(name, rank, signal.SIGKILL)
                self.assert_ended(codes, messages, rank, took, TIMEOUT + 15)
                self.assert_goes_on(name)

    def test_a_rank_that_hangs_ends_the_others_by_name_and_the_run_goes_on(self):
        self.complete_ranks(self.train_words("unbroken"))
        for rank in (0, 1):
            with self.subTest(rank=rank):
                name = f"stopped-{rank}"
                codes, messages, took = self.lose(name, rank, signal.SIGSTOP)
                self.assert_ended(codes, messages, rank, took, 2 * TIMEOUT + 15)
                self.assert_goes_on(name)

    def test_of_three_ranks_both_others_name_the_one_that_is_lost(self):
        codes, messages, took = self.lose("three", 2, signal.SIGKILL, ranks=3)
        self.assert_ended(codes, messages, 2, took, TIMEOUT + 15)

    def test_a_write_to_one_that_is_gone_ends_no_rank_without_a_word(self):
        """As SIGPIPE would, which comes of such a write at a moment that no test can choose."""
        words = self.words("pipe", training__train_steps=400)
        processes = start_ranks(words)
        self.wait_for_step(self.place / "pipe", 2, processes)
        for process in processes:
            process.send_signal(signal.SIGPIPE)
        codes, messages = finish_all(processes)
        self.assertEqual(codes, [0, 0], messages)

    def test_an_error_of_rank_0_ends_the_others(self):
        (self.place / "foreign").mkdir()
        (self.place / "foreign/config.json").write_text("mine")
        codes, messages = finish_all(start_ranks(self.train_words("foreign")))
        self.assertEqual(codes[0], 2, messages)
        self.assertEqual(codes[1], 1, messages)
        self.assertIn("rank 0 ended with an error", messages[1])

    def test_ranks_that_do_not_come_are_named(self):
        process = subprocess.Popen([PROGRAM, *map(str, self.train_words("missing")), "--rank-timeout", "2s"], cwd=ROOT,
                                   env=variables(0, 3, free_port()), text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        codes, messages = finish_all([process])
        self.assertEqual(codes, [1])
        self.assertIn("of 3 ranks these have not come within 2 s: 1, 2", messages[0])


class Networks(Ranks):
    """Two machines, as far as the network goes: a namespace each, a cable between them."""

    def ip(self, *words):
        return subprocess.run(["ip", *words], capture_output=True, text=True).returncode == 0

    def setUp(self):
        super().setUp()
        self.names = [f"transformer{os.getpid()}{side}" for side in "ab"]
        for name in self.names:
            self.addCleanup(self.ip, "netns", "delete", name)
        ends = [f"tf{os.getpid() % 100000}{side}" for side in "ab"]
        done = (shutil.which("ip") is not None and all(self.ip("netns", "add", name) for name in self.names)
                and self.ip("link", "add", ends[0], "netns", self.names[0], "type", "veth",
                            "peer", "name", ends[1], "netns", self.names[1]))
        for side, (name, end) in enumerate(zip(self.names, ends)):
            done = done and (self.ip("-n", name, "address", "add", f"10.213.7.{side + 1}/24", "dev", end)
                             and self.ip("-n", name, "link", "set", end, "up")
                             and self.ip("-n", name, "link", "set", "lo", "up"))
        if not done:
            self.skipTest("network namespaces are not allowed here: two machines are not tried")

    def start_apart(self, words):
        return [subprocess.Popen(["ip", "netns", "exec", name, PROGRAM, *map(str, words), "--rank-timeout",
                                  f"{TIMEOUT}s"], cwd=ROOT, env=variables(rank, 2, 29500, "10.213.7.1"), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for rank, name in enumerate(self.names)]

    def test_two_machines_train_together_and_a_cable_that_is_cut_ends_both(self):
        self.complete_ranks(self.words("together"))
        codes, messages = finish_all(self.start_apart(self.words("apart")))
        self.assertEqual(codes, [0, 0], messages)
        self.assert_same_contents(self.place / "apart", self.place / "together")
        processes = self.start_apart(self.words("cut", training__train_steps=5000))
        self.wait_for_step(self.place / "cut", 10, processes)
        self.assertTrue(self.ip("-n", self.names[1], "link", "set", "lo", "down"))
        self.assertTrue(self.ip("-n", self.names[1], "link", "delete", f"tf{os.getpid() % 100000}b"))
        codes, messages = finish_all(processes)
        self.assertEqual(codes, [1, 1], messages)
        self.assertRegex(messages[0], r"step [0-9]+: rank 1 does not answer")
        self.assertRegex(messages[1], r"step [0-9]+: rank 0, where the ranks meet")


if __name__ == "__main__":
    unittest.main()
