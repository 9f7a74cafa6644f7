"""The lint of citations finds what is not there, and lets be what is."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[3] / "tools" / "lint_citations.py"
RULES = "# The rules\n\n## 1. Order\n\n### 1.2 Scopes\n\n## Read a report: `text`\n\n```sh\n# 7 no heading\n```\n"
TREE = {"docs/RULE_BOOK.md": RULES, "engine/shadow/cell.h": "int cell;\n", "engine/cell.cpp": "int c;\n"}


def lint(files):
    """Exit status and lines of the lint on a tree of these files and of TREE."""
    files = TREE | files
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            place = Path(root) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, LINT, root], input="\n".join(files), text=True,
                                capture_output=True, check=False)
        return result.returncode, result.stdout.splitlines()


class CitationsLint(unittest.TestCase):
    def allow(self, path, text):
        self.assertEqual(lint({path: text + "\n"}), (0, []))

    def forbid(self, path, text, fault, line=2):
        status, lines = lint({path: "int first;\n" + text + "\n"})
        self.assertEqual((status, lines), (1, ["%s:%d: %s" % (path, line, fault)]))

    def test_sections(self):
        self.allow("engine/a.h", "// By RULE_BOOK section 1 and RULE_BOOK.md 1.2; see section 1 of docs/RULE_BOOK.md.")
        self.forbid("engine/a.h", "// By RULE_BOOK section 3.", "docs/RULE_BOOK.md has no section 3")
        self.forbid("engine/a.h", "int a;  // (RULE_BOOK 1.3)", "docs/RULE_BOOK.md has no section 1.3")
        self.forbid("engine/a.py", "# See section 7 of RULE_BOOK.md.", "docs/RULE_BOOK.md has no section 7")

    def test_a_citation_may_be_wrapped(self):
        self.allow("engine/a.h", "// What the rules say (RULE_BOOK\n// section 1) holds.")
        self.forbid("engine/a.h", "// What the rules say (RULE_BOOK\n// section 5) holds.",
                    "docs/RULE_BOOK.md has no section 5")

    def test_a_section_says_of_which_document(self):
        self.allow("engine/a.h", "// PTX ISA section 8.4, and PLDI 2017, section 3.2.")
        self.forbid("engine/a.h", "// As section 1 says.", "section 1 of which document?")

    def test_documents(self):
        self.forbid("engine/a.h", "// The rules: BOOK_OF_LAW.md.", "there is no BOOK_OF_LAW.md")
        self.forbid("docs/OTHER.md", "As `docs/decisions/why.md` says.", "there is no docs/decisions/why.md")

    def test_files(self):
        self.allow("engine/a.h", "// shadow/cell.h has the cell, engine/shadow/cell.h too, cell.cpp the rest.")
        self.forbid("engine/a.h", "// Explained in shadow/word.h.", "there is no shadow/word.h")
        self.forbid("engine/a.cpp", "int a;  // see word.h", "there is no word.h")
        self.forbid("engine/run.sh", "# Called by tools/start.sh.", "there is no tools/start.sh")
        self.forbid("docs/OTHER.md", "The cells: `engine/shadow/word.h`.", "there is no engine/shadow/word.h")
        self.forbid("docs/OTHER.md", "The folder `engine/clock/`.", "there is no engine/clock/")
        self.allow("docs/OTHER.md", "The folder `engine/shadow`; your own app.cu and `src/shadow`.")

    def test_functions(self):
        self.allow("docs/OTHER.md", "| `engine/cell.cpp` | `Cell::c` | a row |")
        self.forbid("docs/OTHER.md", "| `engine/cell.cpp` | `Cell::find` | a row |",
                    "engine/cell.cpp has no Cell::find")

    def test_what_is_not_ours(self):
        self.allow("engine/a.h", "// As cuda_runtime.h and crt/host_runtime.h declare it.")
        self.allow("engine/a.h", '// What is printed: "main() at app.cu:42", main.cu:7.')
        self.allow("engine/a.cpp", 'const char* text = "no such file: word.h section 9";')

    def test_anchors(self):
        self.allow("docs/OTHER.md", "[how](RULE_BOOK.md#read-a-report-text), [here](#own)\n\n## Own")
        self.forbid("docs/OTHER.md", "[how](RULE_BOOK.md#read)", "docs/RULE_BOOK.md has no heading #read")
        self.forbid("docs/OTHER.md", "[how](../BOOK.md)", "there is no BOOK.md")
        self.forbid("docs/OTHER.md", "[how](#7-no-heading)", "docs/OTHER.md has no heading #7-no-heading")
        self.forbid("engine/a.h", "// docs/RULE_BOOK.md#read says so.", "docs/RULE_BOOK.md has no heading #read")


if __name__ == "__main__":
    unittest.main()
