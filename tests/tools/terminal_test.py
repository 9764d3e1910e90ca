"""What a sweep shows on a terminal: a line for the whole and one for each run, written over in their places."""

import os
import pty
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
from program import ENVIRONMENT, PROGRAM, ROOT, Place  # noqa: E402

PARTS = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    """As a terminal of so many columns would show it, for what the program uses of terminals."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.row = self.column = 0

    def write(self, text):
        for number, command, control, plain in PARTS.findall(text):
            if command == "A":
                self.row -= int(number or 1)
                assert self.row >= 0, "above the first line"
            elif command == "K":
                self.lines[self.row] = self.lines[self.row][:self.column]
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.row += 1
                self.lines += [""] * (self.row + 1 - len(self.lines))
            elif plain:
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[:self.column] + plain + line[self.column + len(plain):]
                self.column += len(plain)
                # What stays may wrap, a line that is to be written over may not.
                assert self.column < self.columns or not self.lines[self.row].startswith("["), f"wraps: {self.lines[self.row]}"


def shown(words, columns, environment=None):
    """The screens after each write of the program, and its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(ROOT)
        os.execve("/bin/sh", ["sh", "-c", f'stty cols {columns} rows 30; exec "$@" >/dev/null', "sh", PROGRAM, *words],
                  {**ENVIRONMENT, **(environment or {})})
    screen, screens, unread = Screen(columns), [], ""
    while True:
        try:
            received = os.read(terminal, 65536).decode()
        except OSError:  # the other end is closed
            break
        if not received:
            break
        received = unread + received
        cut = re.search(r"\x1b(\[[0-9;]*)?$", received)  # the beginning of an escape
        unread = cut.group() if cut else ""
        screen.write(received.removesuffix(unread))
        screens.append(list(screen.lines))
    os.close(terminal)
    return screens, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Terminal(unittest.TestCase):
    def test_a_sweep_has_a_line_a_run_and_leaves_a_line_of_each(self):
        place = Place()
        self.addCleanup(place.remove)
        words = ["sweep", "configs/mini.json", "--jobs", "2", "--threads", "1",
                 *place.config(model__N="1,2,3", training__train_steps=800, training__validate_every=100, training__log_every=10,
                               training__checkpoint_every=400, training__diagnostics_every=0)]
        for columns in (160, 30):
            screens, code = shown([*words, "--out", str(place / f"out-{columns}")], columns)
            self.assertEqual(code, 0, "\n".join(screens[-1]))
            last = [line for line in screens[-1] if line]
            if columns == 160:
                for row in ("N-1", "N-2", "N-3"):
                    self.assertEqual(len([line for line in last if line.startswith(f"{row}: perplexity ")]), 1, last)
                running = [line for screen in screens for line in screen if re.match(r"\[[#.]{20}\] +\d+% N-\d step ", line)]
                self.assertTrue(any(re.search(r" loss [\d.]+ valid PPL [\d.]+ [\d,]+ tokens/s \d+ s left$", line) for line in running), running[-5:])
                two = [screen for screen in screens if sum("] " in line and " N-" in line for line in screen) == 2]
                self.assertTrue(two, "two runs were never shown together")
            for screen in screens:
                self.assertLessEqual(sum(line.startswith("[") for line in screen), 3, screen)
                self.assertLessEqual(sum(" runs done" in line for line in screen), 1, screen)


if __name__ == "__main__":
    unittest.main()
