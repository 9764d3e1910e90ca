"""tools/data/prepare.py run as a user runs it, on small files made here."""

import gzip
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "data" / "prepare.py"


def sgm(kind, *segments, document="news-1"):
    body = "\n".join(f'<seg id="{number}">{text}</seg>' for number, text in segments)
    return f'<{kind}set setid="t" srclang="any">\n<doc sysid="ref" docid="{document}">\n<p>\n{body}\n</p>\n</doc>\n</{kind}set>\n'


class Prepare(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, content):
        path = self.folder / name
        content = content.encode("utf-8") if isinstance(content, str) else content
        path.write_bytes(content)
        return str(path)

    def run_it(self, *words):
        return subprocess.run([sys.executable, str(SCRIPT), "--out", str(self.folder / "out"), *words],
                              capture_output=True, text=True)

    def read(self, name):
        return (self.folder / "out" / name).read_bytes().decode("utf-8")

    def refused(self, done, *parts):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.strip().count("\n"), 0, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertFalse(list((self.folder / "out").glob("*")) if (self.folder / "out").exists() else [])

    def test_plain_and_gz_files_are_appended_in_order(self):
        done = self.run_it("--train", self.write("a.en", "one\ntwo\r\n"), self.write("a.de", "eins\nzwei\n"),
                           "--train", self.write("b.en.gz", gzip.compress("three\u2028x".encode())),
                           self.write("b.de.gz", gzip.compress("drei\u2028y\n".encode())))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("train.en"), "one\ntwo\nthree\u2028x\n")
        self.assertEqual(self.read("train.de"), "eins\nzwei\ndrei\u2028y\n")
        self.assertIn("train.en and .de: 3 pairs", done.stdout)

    def test_sgm_segments_become_lines_with_entities_resolved(self):
        source = self.write("t-src.en.sgm", sgm("src", (1, "Tom &amp; &quot;Jerry&quot;"), (2, " a &lt; b\n c ")))
        reference = self.write("t-ref.de.sgm", sgm("ref", (1, "Tom &amp; Jerry"), (2, "K&#228;fer")))
        done = self.run_it("--test", source, reference)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("test.en"), 'Tom & "Jerry"\na < b c\n')
        self.assertEqual(self.read("test.de"), "Tom & Jerry\nKäfer\n")

    def test_different_counts_are_refused_with_both_counts(self):
        done = self.run_it("--train", self.write("a.en", "one\ntwo\n"), self.write("a.de", "eins\n"))
        self.refused(done, "a.en has 2 lines", "a.de has 1")

    def test_a_cut_gz_file_is_refused_by_name(self):
        whole = gzip.compress(b"one\n" * 1000)
        done = self.run_it("--train", self.write("a.en.gz", whole[:-9]), self.write("a.de", "eins\n" * 1000))
        self.refused(done, "a.en.gz", "not a whole gzip file")

    def test_a_file_that_is_no_gz_is_refused_by_name(self):
        done = self.run_it("--train", self.write("a.en.gz", "plain\n"), self.write("a.de", "eins\n"))
        self.refused(done, "a.en.gz", "not a whole gzip file")

    def test_malformed_sgm_is_refused(self):
        good = sgm("ref", (1, "eins"), (2, "zwei"))
        reference = self.write("r.sgm", good)
        for name, bad, message in (("cut.sgm", '<doc docid="d"><seg id="1">one</seg><seg id="2">tw', "is the file cut short?"),
                                   ("nested.sgm", '<doc docid="d"><seg id="1">one<seg id="2">two</seg>', "has no </seg>"),
                                   ("none.sgm", "one\ntwo\n", "it has none"),
                                   ("twice.sgm", sgm("src", (1, "one"), (1, "two")), "stands twice"),
                                   ("order.sgm", sgm("src", (2, "two"), (1, "one")), "segment 2"),
                                   ("fewer.sgm", sgm("src", (1, "one")), "has 1 segments")):
            with self.subTest(name):
                self.refused(self.run_it("--test", self.write(name, bad), reference), name, message)

    def test_nothing_is_replaced_without_force(self):
        words = ("--valid", self.write("a.en", "one\n"), self.write("a.de", "eins\n"))
        self.assertEqual(self.run_it(*words).returncode, 0)
        again = self.run_it(*words)
        self.assertEqual(again.returncode, 2)
        self.assertIn("already there; --force replaces it", again.stderr)
        self.assertEqual(self.run_it(*words, "--force").returncode, 0)

    def test_a_missing_file_is_named(self):
        self.refused(self.run_it("--train", str(self.folder / "no.en"), self.write("a.de", "eins\n")), "no.en")

    def test_help_shows_wmt14(self):
        self.assertIn("newstest2014-deen-src.en.sgm", self.run_it("--help").stdout)


if __name__ == "__main__":
    unittest.main()
