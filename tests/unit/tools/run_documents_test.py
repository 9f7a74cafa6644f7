"""The runner of the documents' commands finds them, and tells what was printed from what is documented."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import run_documents  # noqa: E402

PAGE = """# A page

```c++
$ not a command
```

<!-- file: a.txt -->
```text
one
two
```

```console
$ cat a.txt
one
two
$ false
$ echo $?
1
```
"""


class Documents(unittest.TestCase):
    def commands(self, page=PAGE):
        return run_documents.commands_of("page.md", page)

    def test_commands_and_their_lines(self):
        self.assertEqual([(command.text, command.line, command.expected) for command in self.commands()],
                         [("cat a.txt", 14, ["one", "two"]), ("false", 17, []), ("echo $?", 18, ["1"])])

    def test_files_of_a_page(self):
        self.assertEqual(run_documents.files_of(PAGE), {"a.txt": "one\ntwo\n"})

    def test_a_fence_that_a_command_has_printed(self):
        [command] = self.commands("<!-- printed by: cat b.txt -->\n```\none\n```\n")
        self.assertEqual((command.text, command.line, command.expected), ("cat b.txt", 2, ["one"]))

    def test_flags_that_there_are_not(self):
        page = "```sh\nbarracuda run -- ./app --own\nsrun barracuda run --seed 1 --sed 2 -- ./app --own    # --what\nbarracuda other --any\n```\n"
        self.assertEqual(list(run_documents.unknown_flags("page.md", page, {"run": {"--seed"}})),
                         ["page.md:3: barracuda run has no --sed"])

    def test_output_without_a_command(self):
        with self.assertRaises(SystemExit):
            self.commands("```console\nno command\n```\n")

    def test_lines_are_compared(self):
        same, other = run_documents.matches, lambda *lines: not run_documents.matches(*lines)
        self.assertTrue(same(["a", "b"], ["a", "b"]))
        self.assertTrue(other(["a", "b"], ["a", "c"]))
        self.assertTrue(other(["a"], ["a", "b"]))
        self.assertTrue(other(["a", "b"], ["a"]))
        self.assertTrue(same(["…", "b", "…"], ["a", "a", "b"]))
        self.assertTrue(other(["…", "b"], ["b", "c"]))
        self.assertTrue(same(["(a…c)"], ["(abbc)"]))
        self.assertTrue(other(["(a…c)"], ["(abb)"]))

    def test_an_address_is_not_compared(self):
        command = self.commands("```console\n$ a\nat 0x12 ended\n```\n")[0]
        command.printed = ["at 0x55f0 ended"]
        self.assertTrue(command.is_as_expected())
        command.printed = ["at 0x55f0 ended."]
        self.assertFalse(command.is_as_expected())

    def test_an_update_leaves_what_is_abridged(self):
        page = "```console\n$ a\nold\n$ b\nold …\n$ c\n```\n"
        commands = self.commands(page)
        for command in commands:
            command.printed = ["new", "newer"]
        self.assertEqual(run_documents.updated(page, commands),
                         "```console\n$ a\nnew\nnewer\n$ b\nold …\n$ c\nnew\nnewer\n```\n")


if __name__ == "__main__":
    unittest.main()
