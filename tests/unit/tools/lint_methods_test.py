"""The lint of methods counts what a class declares, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[3] / "tools" / "lint_methods.py"


class MethodsLint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_on(self, text, *arguments):
        (self.root / "part.h").write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, LINT, *arguments], input="part.h\n", cwd=self.root, text=True,
                              capture_output=True, check=False)

    def largest(self, text):
        return self.run_on(text, "--print", "1").stdout.strip()

    def test_what_is_a_method(self):
        self.assertEqual(self.largest("""
            namespace a::b {
            template <typename T>
            class Part final : public Base<T> {
             public:
              explicit Part(int a = 1) : a_{a}, made_([] { return f(1); }) {}      // 1
              Part(const Part&) = delete;
              ~Part() = default;
              [[nodiscard]] std::map<int, int> all(std::function<void()> f) const; // 2
              void add(int one) { if (one) { g(one); } }                           // 3
              void add(float);  // an overload
              friend bool operator==(const Part&, const Part&) = default;
              template <typename F> requires std::is_enum_v<F>
              auto go(F f) -> decltype(f(1));                                      // 4
              Part& operator=(int);                                                // 5
             private:
              struct Inner { void hidden(); };
              static int count_;
              int a_ = f(2);
              std::function<void(int)> callback_;
              std::string text_ = "void no();";
            };
            }"""), "5 part.h: Part")

    def test_too_many_are_a_fault(self):
        text = "class Large {\n%s};\n"
        self.assertEqual(self.run_on(text % "".join("  void f%d();\n" % i for i in range(30))).returncode, 0)
        result = self.run_on(text % "".join("  void f%d();\n" % i for i in range(31)))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "part.h: Large has 31 methods: divide it by duty\n")


if __name__ == "__main__":
    unittest.main()
