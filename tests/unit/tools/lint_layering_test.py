"""The layering lint finds what it forbids, and lets be what it allows."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[3] / "tools" / "lint_layering.py"


def lint(files):
    """Exit status and lines of the lint on a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            place = Path(root) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        result = subprocess.run([sys.executable, LINT, root], input="\n".join(files), text=True,
                                capture_output=True, check=False)
        return result.returncode, result.stdout.splitlines()


class LayeringLint(unittest.TestCase):
    def allow(self, path, line):
        self.assertEqual(lint({path: line + "\n"}), (0, []))

    def forbid(self, path, line, fault):
        status, lines = lint({path: "// first line\n" + line + "\n"})
        self.assertEqual(status, 1)
        included = line.split('"' if '"' in line else "<")[1].rstrip('">')
        self.assertEqual(lines, [f"{path}:2: {included}: {fault}"])

    def test_a_folder_includes_what_the_table_allows(self):
        self.allow("ptx/parse.cpp", '#include "base/expected.h"')
        self.allow("ptx/parse.cpp", '#include "ptx/parser/lexer.h"')
        self.allow("session/session.cpp", '#include "emulator/machine.h"')
        self.allow("preload/init.cpp", '#include <cuda.h>')

    def test_a_folder_does_not_include_what_the_table_does_not_list(self):
        self.forbid("ptx/parse.cpp", '#include "emulator/machine.h"',
                    "ptx/ may not include emulator/")
        self.forbid("base/log.h", '#include "device_logger/record.h"',
                    "base/ may not include device_logger/")
        self.forbid("emulator/machine.h", '  #  include "report/run_data.h"',
                    "emulator/ may not include report/")

    def test_the_subfolders_of_a_folder_are_its_own(self):
        self.forbid("session/session.cpp", '#include "ptx/parser/lexer.h"',
                    "the subfolders of ptx/ are its own")
        self.forbid("tests/unit/fatbin/a_test.cpp", '#include "ptx/parser/lexer.h"',
                    "the subfolders of ptx/ are its own")
        self.allow("tests/unit/ptx/lexer_test.cpp", '#include "ptx/parser/lexer.h"')
        self.allow("preload/copy_call.cpp", '#include "emulator/libcuda/copy/box.h"')
        self.forbid("preload/copy_call.cpp", '#include "emulator/libcuda/memory/array.h"',
                    "the subfolders of emulator/ are its own")
        self.forbid("session/session.cpp", '#include "emulator/libcuda/copy/box.h"',
                    "the subfolders of emulator/ are its own")

    def test_a_subfolder_includes_what_lies_below_it(self):
        self.allow("host_detector/clock/clock.h", '#include "host_detector/clock/clock_tree.h"')
        self.allow("host_detector/races/verdict.h", '#include "host_detector/race_event.h"')
        self.allow("host_detector/happens_before/sync_rules.cpp",
                   '#include "host_detector/races/divergence.h"')
        self.allow("host_detector/queue/ordering.h", '#include "host_detector/detector.h"')
        self.allow("host_detector/detector.cpp", '#include "host_detector/engines/ptx_engine.h"')
        self.allow("tests/unit/host_detector/clock_test.cpp", '#include "host_detector/clock/clock.h"')

    def test_a_subfolder_does_not_include_what_lies_above_it(self):
        self.forbid("host_detector/races/access_check.cpp",
                    '#include "host_detector/happens_before/sync_rules.h"',
                    "host_detector/races may not include host_detector/happens_before")
        self.forbid("host_detector/state/engine_state.h", '#include "host_detector/detector.h"',
                    "host_detector/state may not include host_detector/detector.h")
        self.forbid("host_detector/launch.h", '#include "host_detector/clock/clock.h"',
                    "host_detector/launch.h may not include host_detector/clock")
        self.forbid("ptx/analysis/loops.cpp", '#include "ptx/passes/passes.h"',
                    "ptx/analysis may not include ptx/passes")
        self.forbid("emulator/state/warp.h", '#include "emulator/execute/form.h"',
                    "emulator/state may not include emulator/execute")
        self.forbid("weak_memory/slice/history.h", '#include "weak_memory/repair/edit.h"',
                    "weak_memory/slice may not include weak_memory/repair")
        self.forbid("host_detector/attic/old.h", '#include "host_detector/clock/clock.h"',
                    "host_detector/attic/ has no row in the table of layers")

    def test_cuda_headers_stay_where_they_belong(self):
        for place in ("emulator/libcuda/a.cpp", "emulator/libcudart/a.cpp", "device_logger/a.cu",
                      "examples/nvrtc/a.cpp", "tests/e2e/a.cpp"):
            self.allow(place, "#include <cuda_runtime.h>")
        for header in ("cuda.h", "cuda/atomic", "cooperative_groups.h", "nvrtc.h"):
            self.forbid("emulator/machine.cpp", f"#include <{header}>",
                        "a CUDA header is only included in preload/, emulator/libcuda/, "
                        "emulator/libcudart/")

    def test_libraries_stay_where_they_belong(self):
        self.allow("cli/arguments.cpp", "#include <CLI/CLI.hpp>")
        self.forbid("session/session.cpp", "#include <CLI/CLI.hpp>",
                    "CLI11 is only included in cli/")
        self.allow("report/json_writer.cpp", "#include <nlohmann/json.hpp>")
        self.forbid("ptx/print.cpp", "#include <nlohmann/json.hpp>",
                    "nlohmann-json is only included in report/, cli/")
        self.forbid("cli/main.cpp", "#include <llvm/ADT/SmallVector.h>",
                    "LLVM is included nowhere")

    def test_includes_are_relative_to_the_root(self):
        self.forbid("ptx/parse.cpp", '#include "parse.h"',
                    "includes are relative to the tree's root")
        self.forbid("tests/unit/ptx/a_test.cpp", '#include "../a.h"',
                    "includes are relative to the tree's root")
        self.allow("tests/unit/ptx/a_test.cpp", '#include "sample.h"')
        self.allow("examples/rdc/a.cu", '#include "../cuda_check.h"')

    def test_every_fault_of_every_file_is_told(self):
        status, lines = lint({"base/a.h": '#include "ptx/a.h"\n#include "cli/a.h"\n',
                              "base/b.h": "#include <vector>\n",
                              "base/c.h": '#include "ptx/a.h"\n'})
        self.assertEqual(status, 1)
        self.assertEqual([line.split(": ")[0] for line in lines],
                         ["base/a.h:1", "base/a.h:2", "base/c.h:1"])


if __name__ == "__main__":
    unittest.main()
