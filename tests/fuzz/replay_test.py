#!/usr/bin/env python3
"""The kept inputs of the Python readers through them again, without a fuzzer; and what no fuzzer has the time for."""

import gzip
import struct
import tempfile
import time
import unittest
from pathlib import Path

from readers import READERS, accepts
from parallel.align import sentence_pairs
from parallel.man_pages import man_blocks, read_page
from parallel.pair import ToolError

SEEDS = Path(__file__).parent / "seeds"


class Replay(unittest.TestCase):
    def test_each_kept_input_is_read_or_refused_as_its_name_says(self):
        for name, reader in READERS.items():
            answers = set()
            for seed in sorted((SEEDS / name).iterdir()):
                with self.subTest(seed=seed.name):
                    self.assertTrue(seed.name.startswith(("sound-", "refused-")))
                    is_sound = seed.name.startswith("sound-")
                    self.assertEqual(accepts(reader, seed.read_bytes()), is_sound)
                    answers.add(is_sound)
            self.assertEqual(len(answers), 2)  # seeds that all are refused would reach nothing


class Bounds(unittest.TestCase):
    """Time and memory grow with the input, not with its square or with what it promises."""

    def quick(self, reader, content, seconds=1.0):
        start = time.process_time()
        answer = accepts(reader, content)
        self.assertLess(time.process_time() - start, seconds)
        return answer

    def test_sgm_of_marks_without_ends(self):
        for mark in (b"<seg>", b"<seg ", b"<doc ", b"<seg id=", b"</seg", b"<doc docid='", b"&#"):
            with self.subTest(mark=mark):
                self.assertFalse(self.quick(READERS["sgm"], mark * (400_000 // len(mark))))

    def test_a_character_reference_of_any_length(self):
        for digits in (9, 5000, 400_000):
            for mark in (b"&#", b"&#x"):
                content = b"<doc docid='d'><seg id=1>" + mark + b"9" * digits + b";</seg></doc>"
                self.assertTrue(self.quick(READERS["sgm"], content))

    def catalog(self, *texts):
        """A catalog of one message whose texts these are."""
        place, tables = 28 + 8 * len(texts), b""
        for text in texts:
            tables += struct.pack("<2I", len(text), place)
            place += len(text)
        return struct.pack("<7I", 0x950412DE, 0, 1, 28, 36, 0, 0) + tables + b"".join(texts)

    def test_catalogs_that_would_take_a_sentence_splitter_long(self):
        for text in (b"." * 200_000, b"A. " * 50_000, b"e.g. A " * 30_000, b"\n" * 200_000, b"_" * 200_000,
                     b"<a" * 100_000, b"&a" * 100_000, ("a" + "\u0316\u0301" * 50_000).encode()):
            with self.subTest(text=text[:8]):
                self.assertTrue(self.quick(READERS["catalog"], self.catalog(text, text + b" B."), seconds=3))

    def test_a_catalog_whose_messages_are_all_the_same_bytes(self):
        count, big = 20_000, 1 << 20
        table = 28 + 8 * count
        content = (struct.pack("<7I", 0x950412DE, 0, count, 28, 28, 0, 0) +
                   struct.pack("<2I", big, table) * count + b"x" * big)
        self.assertFalse(self.quick(READERS["catalog"], content))

    def test_a_catalog_that_promises_more_than_it_has(self):
        for count in (2, 1 << 20, (1 << 32) - 1):
            header = struct.pack("<7I", 0x950412DE, 0, count, 28, 28, 0, 0)
            self.assertFalse(self.quick(READERS["catalog"], header + b"\0" * 8))

    def test_a_paragraph_of_thousands_of_sentences_is_none(self):
        self.assertEqual(sentence_pairs(["A."] * 5000, ["B."] * 2500), [])

    def test_half_of_a_surrogate_pair_is_no_character(self):
        for _, text in man_blocks("a \\[uD800] b"):
            self.assertEqual(text, "a \ufffd b")

    def test_a_manual_page_that_unpacks_to_far_more_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "ls.1.gz"
            page.write_bytes(gzip.compress(b"x" * (20 << 20)))
            with self.assertRaisesRegex(ToolError, "expected a manual page of at most"):
                read_page(page)


if __name__ == "__main__":
    unittest.main()
