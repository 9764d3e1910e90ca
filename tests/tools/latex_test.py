"""LaTeX of `transformer table` through pdflatex, as it is. Skipped where pdflatex is not installed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/faults"))
from program import PROGRAM  # noqa: E402

HOSTILE = r"a_b%c$d#e{f}g~h^i\j&k|<l> ±"


def results():
    """A sweep's results.json, written by hand: no checksum, no config."""
    rows = [{"id": name, "group": group, "set": {"model.h": 8 * (index + 1), "model.positions": HOSTILE},
             "paper": {"perplexity": 4.92, "bleu": 25.8, "parameters": 65e6}, "config": None, "departures": []}
            for index, (name, group) in enumerate([("base", "base"), ("a_b", "A"), ("big", "big")])]
    runs = [{"id": row["id"], "seed": 1, "state": "failed", "message": HOSTILE} for row in rows]
    return {"schema_version": 1, "sweep": {}, "rows": rows, "results": runs}


@unittest.skipIf(shutil.which("pdflatex") is None, "pdflatex is not installed")
class LatexTest(unittest.TestCase):
    def test_a_table_compiles(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "results.json").write_text(json.dumps(results()))
            table = subprocess.run([PROGRAM, "table", folder, "--format", "latex"], capture_output=True, text=True, check=False)
            self.assertEqual(table.returncode, 0, table.stderr)
            (folder / "table.tex").write_text(
                "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n" + table.stdout + "\\end{document}\n")
            done = subprocess.run(["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "table.tex"], cwd=folder,
                                  capture_output=True, text=True, errors="replace", check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:])
            self.assertTrue((folder / "table.pdf").exists())


if __name__ == "__main__":
    unittest.main()
