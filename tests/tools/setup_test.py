"""tools/setup.sh, with stand-ins for the system's programs: nothing is installed."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "tools" / "setup.sh"


def set_up(cmake_version: str) -> subprocess.CompletedProcess:
    stand_ins = {
        "cmake": f"echo cmake version {cmake_version}; echo; echo more",
        "apt-get": "exit 9",
        "dpkg-query": "echo installed",
        "python3": "exit 1",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, body in stand_ins.items():
            program = Path(folder) / name
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "Torch_DIR": folder}
        return subprocess.run([SETUP], env=environment, capture_output=True, text=True)


class CMakeVersion(unittest.TestCase):
    def test_an_older_one_is_refused_in_one_line(self):
        for version in ["3.22.1", "3.9.6", "3.23.5", "2.8"]:
            done = set_up(version)
            self.assertEqual(done.returncode, 1, version)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("needs CMake 3.24 or newer", done.stderr)
            self.assertIn(f"is {version}", done.stderr)

    def test_the_same_or_a_newer_one_will_do(self):
        for version in ["3.24", "3.24.0-rc1", "3.31.6", "10.1.0"]:
            self.assertNotIn("CMake", set_up(version).stderr, version)


if __name__ == "__main__":
    unittest.main()
