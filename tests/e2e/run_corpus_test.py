#!/usr/bin/env python3
"""tools/run_corpus.py on a corpus of one racy and one clean program of this tree: run_corpus_test.py BARRACUDA PROGRAMS"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tools"))
import corpus_table  # noqa: E402
import run_corpus  # noqa: E402

BARRACUDA, PROGRAMS = sys.argv[1], Path(sys.argv[2])
RACE, FIXED = "shared_sum_race", "shared_sum_fixed"


class Corpus(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.corpus = Path(self.folder.name) / "corpus"
        self.built = Path(self.folder.name) / "built/kernels"
        (self.corpus / "kernels").mkdir(parents=True)
        self.built.mkdir(parents=True)
        for name in (RACE, FIXED):
            shutil.copy(TREE / "examples" / (name + ".cu"), self.corpus / "kernels")
            (self.built / name).symlink_to(PROGRAMS / name)

    def add_script(self, name, text):
        (self.corpus / "kernels" / (name + ".cu")).write_text("// no CUDA\n")
        (self.built / name).write_text("#!/bin/sh\n" + text)
        (self.built / name).chmod(0o755)

    def run_corpus(self, table, *options):
        """The exit status, and what was printed."""
        file = Path(self.folder.name) / "table.txt"
        file.write_text(table)
        ended = subprocess.run([sys.executable, str(TREE / "tools/run_corpus.py"), "--barracuda", BARRACUDA, "--table", str(file),
                                "--corpus", str(self.corpus), "--programs", str(self.built.parent), *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def test_labels_that_hold(self):
        status, text = self.run_corpus("race */*_race.cu\nclean */*_fixed.cu\n")
        self.assertEqual(status, 0, text)
        self.assertIn("| corpus | programs | right |", text)
        self.assertIn("| table | 2 | 2 |", text)

    def test_labels_that_do_not_hold(self):
        status, text = self.run_corpus("clean */*_race.cu\nrace */*_fixed.cu why='planted here'\n")
        self.assertEqual(status, 1, text)
        self.assertIn("| corpus | programs | false alarm | miss |", text)
        self.assertIn("| kernels/%s | clean | race | false alarm |" % RACE, text)
        self.assertIn("| kernels/%s | race | none | miss: planted here |" % FIXED, text)

    def test_a_label_that_we_judged(self):
        status, text = self.run_corpus("clean */*_race.cu ours=race why='no barrier'\nclean *\n")
        self.assertEqual(status, 0, text)
        self.assertIn("| kernels/%s | clean | race | label is wrong: no barrier |" % RACE, text)

    def test_lines(self):
        source = (TREE / "examples" / (RACE + ".cu")).read_text().splitlines()
        lines = ",".join(str(number) for number, line in enumerate(source, 1) if line.endswith("// RACE"))
        self.assertEqual(self.run_corpus("race *_race.cu lines=%s\n" % lines, RACE)[0], 0)
        status, text = self.run_corpus("race *_race.cu lines=1\n", RACE)
        self.assertEqual(status, 1, text)
        self.assertIn("| other finding |", text)

    def test_labels_in_the_source(self):
        status, text = self.run_corpus(r"race * text='^// expect: race'" + "\nclean * text='^// expect: none'\n")
        self.assertEqual(status, 0, text)
        self.assertIn("| table | 2 | 2 |", text)

    def test_what_does_not_run(self):
        (self.corpus / "kernels/missing.cu").write_text("\n")
        self.add_script("host_only", "exit 0\n")
        self.add_script("hangs", "sleep 100\n")
        self.add_script("skipped", "exit 1\n")
        status, text = self.run_corpus("skip */skipped.cu why=interactive\nclean *\n", "--time-limit", "10",
                                       "missing", "host_only", "hangs", "skipped")
        self.assertEqual(status, 1, text)
        self.assertIn("| corpus | programs | skipped | not built | not run | timed out |", text)
        self.assertIn("| table | 4 | 1 | 1 | 1 | 1 |", text)

    def test_nothing_found_where_not_all_was_checked(self):
        run = run_corpus.Run(launched=True, complete=False)
        for label in ("clean", "race"):
            self.assertEqual(run_corpus.judge(corpus_table.Expectation(label), run), "not all checked")

    def test_arguments(self):
        self.add_script("told", "[ \"$1\" = '%s/kernels' ] && exec '%s'\n" % (self.corpus.resolve(), PROGRAMS / RACE))
        status, text = self.run_corpus("arguments nothing\nrace *told.cu arguments={corpus}/{folder}\n", "told")
        self.assertEqual(status, 0, text)

    def test_nothing_to_run(self):
        self.assertEqual(self.run_corpus("clean *\n", "no_such_program")[0], 2)

    def test_mistakes_in_tables(self):
        for row in ("racy *", "race", "race * lines=a", "clean * ours=race", "race 'open"):
            with self.assertRaises(corpus_table.TableError, msg=row):
                corpus_table.read_table(row, "t")
        self.assertNotEqual(self.run_corpus("racy *\n")[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
