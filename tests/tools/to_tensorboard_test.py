"""tools/to_tensorboard.py against TensorBoard's own reader. Skipped where the package is not installed."""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/to_tensorboard.py"

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    EventAccumulator = None


def make_run(run: Path) -> None:
    checkpoint = run / "checkpoints/step-000000002"
    checkpoint.mkdir(parents=True)
    (run / "metrics.jsonl").write_text(
        '{"step":1,"loss":2.5,"checksum":"x"}\n{"step":2,"loss":1.5}\n{"step":2,"valid_perplexity":7.25}\n{"step":3,"lo')
    (run / "diagnostics.jsonl").write_text(json.dumps(
        {"step": 2, "sublayers": [{"sublayer": "encoder.layers.0.self_attention", "trunk": 3.0, "gradient": {"q.weight": 0.5},
                                   "attention_entropy": [1.0, 0.25]}]}) + "\n")
    values = [-1.0, 0.0, 0.5, 2.0]
    header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}, "__metadata__": {}}).encode()
    (checkpoint / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<4f", *values))


@unittest.skipIf(EventAccumulator is None, "the package tensorboard is not installed")
class TensorBoardTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)

    def test_scalars_and_histograms_are_read_back(self):
        make_run(self.folder / "sweep/base/seed-1")
        for _ in range(2):  # the second takes the first one's place
            done = self.run_tool(self.folder / "sweep", "--out", self.folder / "logs")
            self.assertEqual(done.returncode, 0, done.stderr)
        logs = self.folder / "logs/base/seed-1"
        self.assertEqual(len(list(logs.iterdir())), 1)
        events = EventAccumulator(str(logs)).Reload()
        scalar = lambda tag: [(event.step, event.value) for event in events.Scalars(tag)]
        self.assertEqual(scalar("metrics/loss"), [(1, 2.5), (2, 1.5)])
        self.assertEqual(scalar("metrics/valid_perplexity"), [(2, 7.25)])
        self.assertEqual(scalar("trunk/encoder.layers.0.self_attention"), [(2, 3.0)])
        self.assertEqual(scalar("gradient/encoder.layers.0.self_attention/q.weight"), [(2, 0.5)])
        self.assertEqual(scalar("attention_entropy/encoder.layers.0.self_attention/1"), [(2, 0.25)])
        weights = events.Histograms("weights/w")[0]
        self.assertEqual((weights.step, weights.histogram_value.num, weights.histogram_value.sum), (2, 4, 1.5))
        self.assertEqual(sum(weights.histogram_value.bucket), 4)

    def test_a_folder_without_runs_is_refused(self):
        done = self.run_tool(self.folder, "--out", self.folder / "logs")
        self.assertEqual(done.returncode, 2)
        self.assertIn("not a run and not a sweep", done.stderr)


if __name__ == "__main__":
    unittest.main()
