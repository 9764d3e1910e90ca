"""The corpus tool's readers, cleaning and split, on tiny inputs made here; what is expected is written by hand."""

import gzip
import struct
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "data"))

from parallel import split as splitting
from parallel.align import align, paired_blocks
from parallel.catalogs import message_pairs, read_mo
from parallel.clean import clean, fault, key, normalise, tokens
from parallel.descriptions import read_descriptions
from parallel.dictionary import read_dictionary
from parallel.help_pages import page_pairs, read_help
from parallel.html_docs import html_blocks
from parallel.man_pages import man_blocks, man_pairs, read_man
from parallel.output import check_target, is_complete, write_corpus
from parallel.pair import Pair, ToolError
from parallel.sentences import split_sentences
from parallel.split import Sizes, part_of, split


def pair(en, de, unit="u", source="lohelp"):
    return Pair(source, "package", unit, unit, en, de)


class Dictionary(unittest.TestCase):
    def read(self, *lines, sources=("ding-sent",)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "usr/share/trans/de-en"
            path.parent.mkdir(parents=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return [(p.en, p.de, p.unit) for p in read_dictionary(Path(folder), sources)]

    def test_sentences_are_taken_without_marks_and_with_the_first_alternative(self):
        found = self.read("# Version :: devel",
                          "Haus {n} [arch.] | Das Haus (dort) brennt <Brand>.; Es brennt. | Häuser {pl} :: "
                          "house | The house is on fire. | houses")
        self.assertEqual(found, [("The house is on fire.", "Das Haus brennt.", "0")])

    def test_entries_with_slots_or_slashes_are_left_out(self):
        self.assertEqual(self.read("Er hat etw. getan. | Ja/Nein bitte. | Nun ... gut. :: "
                                   "He did sth. bad. | Yes or no. | Well then."), [])

    def test_phrases_have_three_words_on_each_side(self):
        found = self.read("das große Haus | Das Haus brennt. | ein Haus :: the big house | The house burns. | a new house",
                          sources=["ding-phrase"])
        self.assertEqual(found, [("the big house", "das große Haus", "0")])

    def test_a_unit_is_a_block_of_fifty_lines(self):
        lines = ["a :: b"] * 49 + ["Es regnet. :: It is raining.", "Es schneit. :: It is snowing."]
        self.assertEqual(self.read(*lines), [("It is raining.", "Es regnet.", "0"),
                                             ("It is snowing.", "Es schneit.", "1")])


class Help(unittest.TestCase):
    @staticmethod
    def page(body):
        return ('<p id="par_id1">navigation</p><div id="DisplayArea">' + body +
                '<div id="SearchFrame"></div><p id="par_id9">footer</p>')

    def test_elements_are_joined_by_id_and_not_by_place(self):
        en = self.page('<h1 id="hd_id1">Cells &amp; rows</h1><p id="par_id2">One <span class="emph">cell</span>.</p>')
        de = self.page('<p id="par_id2">Eine <span class="emph">Zelle</span>.</p><p id="par_id5">Allein.</p>'
                       '<h1 id="hd_id1">Zellen &amp; Zeilen</h1>')
        self.assertEqual(list(page_pairs(en, de)), [("Cells & rows", "Zellen & Zeilen"), ("One cell.", "Eine Zelle.")])

    def test_of_system_variants_the_default_is_taken(self):
        body = ('<p id="par_id1">Press <span id="s1" class="switchinline"><span hidden="true" class="MAC">Command'
                '</span><span hidden="true" id="d1"><span class="keycode">Ctrl</span></span></span>+A.</p>')
        self.assertEqual(list(page_pairs(self.page(body), self.page(body))), [("Press Ctrl+A.", "Press Ctrl+A.")])

    def test_without_a_default_the_first_program_is_taken(self):
        body = ('<p id="par_id1"><span class="switchinline"><span hidden="true" class="MAC">a</span>'
                '<span hidden="true" class="CALC">b</span><span hidden="true" class="DRAW">c</span></span></p>')
        self.assertEqual(list(page_pairs(self.page(body), self.page(body))), [("b", "b")])

    def test_an_id_that_stands_twice_on_one_side_only_joins_nothing(self):
        one = self.page('<p id="par_id1">Once.</p>')
        two = self.page('<p id="par_id1">Einmal.</p><p id="par_id1">Zweimal.</p>')
        self.assertEqual(list(page_pairs(one, two)), [])

    def test_pages_of_both_languages_are_read_and_a_lone_one_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            help_folder = Path(folder) / "usr/share/libreoffice/help"
            for name, text in (("en-US/text/a/one.html", "Open the file."), ("de/text/a/one.html", "Öffnen Sie es."),
                               ("en-US/text/a/two.html", "Alone.")):
                (help_folder / name).parent.mkdir(parents=True, exist_ok=True)
                (help_folder / name).write_text(self.page(f'<p id="par_id1">{text}</p>'), encoding="utf-8")
            found = list(read_help(Path(folder), Path(folder)))
        self.assertEqual([(p.en, p.de, p.unit) for p in found], [("Open the file.", "Öffnen Sie es.", "text/a/one")])


class Descriptions(unittest.TestCase):
    def read(self, en_body, de_body):
        en = f"Package: foo-bar\nDescription-md5: 1\nDescription-en: small tool\n{en_body}\n"
        de = f"Package: foo-bar\nDescription-md5: 1\nDescription-de: kleines Werkzeug\n{de_body}\n"
        return [(p.en, p.de) for p in read_descriptions({"en": en, "de": de})]

    def test_short_line_paragraphs_and_items_pair_up(self):
        found = self.read(" This tool is\n small. It is fast.\n .\n  * reads\n    files\n  * writes files",
                          " Dieses Werkzeug ist klein.\n Es ist\n schnell.\n .\n  * liest Dateien\n  * schreibt Dateien")
        self.assertEqual(found, [("small tool", "kleines Werkzeug"), ("This tool is small.", "Dieses Werkzeug ist klein."),
                                 ("It is fast.", "Es ist schnell."), ("reads files", "liest Dateien"),
                                 ("writes files", "schreibt Dateien")])

    def test_a_word_broken_after_its_hyphen_is_put_together_and_a_suspended_one_is_not(self):
        found = self.read(" It needs libjson-\n perl.", " Ein- \n und Ausgabe braucht libjson-\n perl und Ein-\n und Aus.")
        self.assertEqual(found[1], ("It needs libjson-perl.", "Ein- und Ausgabe braucht libjson-perl und Ein- und Aus."))

    def test_lines_set_apart_are_left_out(self):
        found = self.read(" Text here.\n   $ code --now\n More text.", " Text hier.\n   $ code --now\n Mehr Text.")
        self.assertEqual(found[1:], [("Text here.", "Text hier."), ("More text.", "Mehr Text.")])

    def test_only_equal_md5_joins_and_the_unit_is_the_name_up_to_the_first_hyphen(self):
        en = "Package: foo-bar\nDescription-md5: 1\nDescription-en: a\n\nPackage: x\nDescription-md5: 2\nDescription-en: b\n"
        de = "Package: foo-bar\nDescription-md5: 1\nDescription-de: c\n\nPackage: x\nDescription-md5: 3\nDescription-de: d\n"
        found = list(read_descriptions({"en": en, "de": de}))
        self.assertEqual(found, [Pair("ddtp", "foo-bar", "foo-bar", "foo", "a", "c")])


class ManualPages(unittest.TestCase):
    EN = r""".TH LS 1
.SH NAME
ls \- list directory contents
.SH DESCRIPTION
.\" a comment
.PP
List \fBall\fP the
.I files
of \(aqHOME\(aq.
.nf
code here
.fi
.TP
.BR \-a ", " \-\-all
do not hide
.IP "an item" 4
Its text.
.SH COLOPHON
This page is part of a release.
"""
    DE = r""".TH LS 1
.SH BEZEICHNUNG
ls \- Verzeichnisinhalte auflisten
.SH BESCHREIBUNG
.PP
\fBAlle\fP Dateien f\(:ur \(BqHOME\(lq
auflisten.
.nf
code here
.fi
.TP
\fB\-a\fP, \fB\-\-all\fP
nichts verbergen
.IP "ein Punkt" 4
Sein Text.
.SH \(:UBERSETZUNG
Diese Seite wurde \(:ubersetzt.
"""

    def test_blocks_pair_up_without_escapes_code_and_translators(self):
        self.assertEqual(list(man_pairs(self.EN, self.DE)), [
            ("NAME", "BEZEICHNUNG"), ("ls - list directory contents", "ls - Verzeichnisinhalte auflisten"),
            ("DESCRIPTION", "BESCHREIBUNG"), ("List all the files of 'HOME'.", 'Alle Dateien für "HOME" auflisten.'),
            ("-a, --all", "-a, --all"), ("do not hide", "nichts verbergen"), ("an item", "ein Punkt"),
            ("Its text.", "Sein Text.")])

    def test_an_unknown_escape_leaves_a_sign_that_cleaning_drops(self):
        self.assertEqual(man_blocks(".PP\nA \\(zz sign"), [("PP", "A \ufffd sign")])

    def test_pages_of_the_other_macro_package_are_left_out(self):
        self.assertEqual(man_blocks(".Dd May 1\n.Sh NAME\ntext"), [])

    def test_a_page_is_found_in_whatever_package_has_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("coreutils/usr/share/man/man1/ls.1.gz", self.EN),
                               ("manpages-de/usr/share/man/de/man1/ls.1.gz", self.DE),
                               ("manpages-de/usr/share/man/de/man1/lone.1.gz", self.DE)):
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(gzip.compress(text.encode()))
            found = list(read_man([Path(folder) / "manpages-de", Path(folder) / "coreutils"]))
        self.assertEqual({(p.package, p.unit) for p in found}, {("coreutils", "man1/ls.1")})
        self.assertEqual(len(found), 8)


class Handbooks(unittest.TestCase):
    def test_blocks_are_read_in_order_without_code(self):
        page = ("<head><title>no</title></head><body><h1>A title<a>¶</a></h1><p>One <b>bold</b>\nword &amp; more.</p>"
                "<pre>code</pre><ul><li>item <p>inner</p> after</li></ul></body>")
        self.assertEqual(html_blocks(page), [("h1", "A title"), ("p", "One bold word & more."), ("li", "item"),
                                             ("p", "inner"), ("li", "after")])

    def test_unlike_pages_are_aligned_and_pages_far_apart_are_not(self):
        en = [("p", "This is the first paragraph of 1999."), ("p", "This one is missing in the other language."),
              ("p", "And this is the last one of 2024.")]
        de = [("p", "Dies ist der erste Absatz von 1999."), ("p", "Und dies ist der letzte von 2024.")]
        self.assertEqual(paired_blocks(en, de), [(en[0][1], de[0][1]), (en[2][1], de[1][1])])
        self.assertEqual(paired_blocks(en * 10, de), [])


class Catalogs(unittest.TestCase):
    @staticmethod
    def catalog(order, *entries):
        """A .mo file as the gettext manual describes it: header, two tables of (length, offset), the texts."""
        texts = [text.encode() for side in (0, 1) for text in (entry[side] for entry in entries)]
        start = 28 + 16 * len(entries)
        offsets = [start + sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
        header = struct.pack(order + "7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, start)
        table = b"".join(struct.pack(order + "2I", len(text), at) for text, at in zip(texts, offsets))
        return header + table + b"".join(text + b"\0" for text in texts)

    def test_contexts_go_and_the_last_plural_counts_in_either_byte_order(self):
        entries = (("", "Language: de"), ("menu\x04Open", "Öffnen"), ("%d file\0%d files", "%d Datei\0%d Dateien"))
        for order in "<>":
            self.assertEqual(read_mo(self.catalog(order, *entries), "a.mo"), [("%d files", "%d Dateien"), ("Open", "Öffnen")])

    def test_paragraphs_pair_up_without_tags_and_accelerators_and_short_ones_go(self):
        found = message_pairs("~Save <b>all</b> of the files now\n\nOK then", "Jetzt alle ~Dateien <b>hier</b> sichern\n\nNa gut")
        self.assertEqual(list(found), [("Save all of the files now", "Jetzt alle Dateien hier sichern")])

    def test_broken_catalogs_are_named(self):
        whole = self.catalog("<", ("a", "b"))
        with self.assertRaisesRegex(ToolError, "x.mo: is no message catalog"):
            read_mo(b"text", "x.mo")
        with self.assertRaisesRegex(ToolError, "x.mo: message catalog is cut short"):
            read_mo(whole[:30], "x.mo")


class Alignment(unittest.TestCase):
    def test_one_sentence_against_two(self):
        en = ["The first sentence of the text is here.",
              "The second one, which is rather long, has two clauses and goes on for a while."]
        de = ["Der erste Satz des Textes steht hier.", "Der zweite ist ziemlich lang.",
              "Er hat zwei Teilsätze und geht noch eine Weile weiter."]
        self.assertEqual([(step.en, step.de) for step in align(en, de)], [([0], [0]), ([1], [1, 2])])

    def test_a_lone_sentence_is_left_alone_where_numbers_show_it(self):
        en = ["See page 17 of the book.", "Use port 8080 of the server.", "It was made in 1999 by us."]
        de = ["Siehe Seite 17 des Buches.", "Es wurde 1999 von uns gemacht."]
        self.assertEqual([(step.en, step.de) for step in align(en, de)], [([0], [0]), ([1], []), ([2], [1])])

    def test_sentences_end_at_full_stops_but_not_after_abbreviations_ordinals_and_initials(self):
        self.assertEqual(split_sentences("Use e.g. Perl. It works.", "en"), ["Use e.g. Perl.", "It works."])
        self.assertEqual(split_sentences("Am 3. Mai kam J. Bach. Er blieb.", "de"), ["Am 3. Mai kam J. Bach.", "Er blieb."])
        self.assertEqual(split_sentences("Only 1 is valid. “Two” is not.", "en"), ["Only 1 is valid.", '"Two" is not.'])


class Cleaning(unittest.TestCase):
    def test_text_is_made_plain(self):
        self.assertEqual(normalise("„Gro\u00ad\u00dfe  Ka\u0308fer“\u00a0\u2013 it\u2019s\t\u2026"), '"Große Käfer" \u2013 it\'s ...')

    def test_tokens_and_key(self):
        self.assertEqual(tokens("It's 12.5, ok"), ["It's", "12", ".", "5", ",", "ok"])
        self.assertEqual(key("Page 17: It's (new)!"), "page 0 it s new")

    def test_each_fault_has_its_name(self):
        self.assertIsNone(fault("Open the file.", "Öffnen Sie die Datei."))
        for en, de, reason in (("", "Ja.", "empty"),
                               ("a " * 101, "b " * 101, "over 100 tokens"),
                               ("Menu 1", "menu 2", "not translated"),
                               ("See \ufffd now", "Siehe jetzt", "broken characters"),
                               ("See fÃ¼r now", "Siehe jetzt", "broken characters"),
                               ("Go to http://x.y now", "Siehe dort", "address"),
                               ("a + - = b", "d + - = e f", "few words"),
                               ("The very long sentence here", "Satz", "length ratio"),
                               ("Open the file of the user", "The file is open and it", "wrong language"),
                               ("Das ist der Weg und", "Dies geht nicht mit uns", "wrong language")):
            self.assertEqual(fault(en, de), reason, (en, de))

    def test_a_pair_counts_once(self):
        drops = Counter()
        kept = list(clean([pair("Page 1 here.", "Seite 1 hier."), pair("page 2 here", "Seite 2 hier!")], drops))
        self.assertEqual([p.en for p in kept], ["Page 1 here."])
        self.assertEqual(drops, {("lohelp", "repeated"): 1})


class Split(unittest.TestCase):
    SIZES = Sizes(train_length=(2, 20), held_length=(1, 20), train=0, valid=0, test=0)

    def setUp(self):
        """One unit's name for each part, found by the rule itself: md5 decides, and nothing else."""
        self.units = {}
        for number in range(2000):
            self.units.setdefault(part_of(pair("a", "b", unit=f"unit-{number}")), f"unit-{number}")

    def test_md5_decides_the_part(self):
        # md5("lohelp:unit-0") as an integer, mod 1000, worked out with md5sum and bc.
        self.assertEqual(splitting.md5("lohelp:unit-0") % 1000, 414)
        self.assertEqual(set(self.units), {"train", "valid", "test"})

    def split(self, *pairs, sizes=SIZES):
        self.drops = Counter()
        parts = split([pair(en, de, unit=self.units[part]) for part, en, de in pairs], sizes, self.drops)
        return {name: [p.en for p in members] for name, members in parts._asdict().items()}

    def test_training_pairs_that_share_either_side_are_dropped(self):
        found = self.split(("test", "Red cars.", "Rote Autos."), ("valid", "Blue cars.", "Blaue Autos."),
                           ("train", "red cars", "Rote Wagen."), ("train", "Azure cars.", "blaue Autos"),
                           ("train", "Green cars.", "Grüne Autos."))
        self.assertEqual(found, {"train": ["Green cars."], "valid": ["Blue cars."], "test": ["Red cars."]})
        self.assertEqual(self.drops, {("lohelp", "train shares a sentence with valid or test"): 2})

    def test_validation_gives_way_to_test(self):
        found = self.split(("valid", "Red cars.", "Rote Wagen."), ("test", "Red cars.", "Rote Autos."))
        self.assertEqual((found["valid"], found["test"]), ([], ["Red cars."]))

    def test_near_copies_of_a_training_sentence_are_not_held_out(self):
        # 7 words have 4 4-grams. Of the first, training has 3 of 4 (75 %); of the second, 2 of 4 (50 %).
        found = self.split(("train", "a b c d e f x", "Eins zwei drei vier"), ("test", "a b c d e f g", "Fünf sechs sieben acht"),
                           ("test", "b c d e f h i", "Neun zehn elf zwölf"))
        self.assertEqual(found["test"], ["b c d e f h i"])

    def test_near_copies_are_found_on_the_german_side_too(self):
        found = self.split(("train", "One two", "a b c d e"), ("valid", "Three four", "a b c d"))
        self.assertEqual(found["valid"], [])

    def test_lengths_outside_are_dropped(self):
        found = self.split(("train", "One", "Eins"), ("train", "One two", "Eins zwei"), ("train", "a " * 21, "b " * 21),
                           ("test", "Seven", "Sieben"))
        self.assertEqual((found["train"], found["test"]), (["One two"], ["Seven"]))

    def test_phrases_go_where_their_lines_sentences_go(self):
        for unit in range(200):
            self.assertEqual(part_of(pair("a", "b", str(unit), "ding-phrase")), part_of(pair("a", "b", str(unit), "ding-sent")))

    def test_sizes_are_kept_and_the_order_too(self):
        sizes = self.SIZES._replace(train=3, test=2)
        numbers = "one two three four five six".split()
        found = self.split(*(("train", f"Train {n}", f"Zug {n}") for n in numbers),
                           *(("test", f"Test {n}", f"Probe {n}") for n in numbers), sizes=sizes)
        order = [f"Train {n}" for n in numbers]
        self.assertEqual((len(found["train"]), len(found["test"])), (3, 2))
        self.assertEqual(found["train"], sorted(found["train"], key=order.index))

    def test_a_held_out_unit_gives_at_most_25(self):
        letters = [a + b for a in "abcdef" for b in "abcdef"]
        found = self.split(*(("test", f"Test {n}", f"Probe {n}") for n in letters))
        self.assertEqual(len(found["test"]), 25)


class Output(unittest.TestCase):
    def test_a_folder_is_written_whole_and_alike_each_time(self):
        parts = {"train": [pair("A b.", "C d.")], "valid": [], "test": [pair("E.", "F.", unit="page")]}
        with tempfile.TemporaryDirectory() as folder:
            one, two = Path(folder) / "one", Path(folder) / "two"
            for out in (one, two, two):  # the second time over itself
                write_corpus(out, parts, {"lohelp": "office"}, {"tier": "S"})
            self.assertTrue(is_complete(one))
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ["one", "two"])
            self.assertEqual((one / "test.meta").read_text(), "lohelp\toffice\tpackage\tpage\n")
            for path in one.iterdir():
                self.assertEqual(path.read_bytes(), (two / path.name).read_bytes())

    def test_a_foreign_folder_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "thesis.txt").write_text("mine")
            with self.assertRaisesRegex(ToolError, "is no corpus of this tool"):
                check_target(Path(folder))


if __name__ == "__main__":
    unittest.main()
