#include "preload/assembler_call.h"

#include <fstream>

#include <catch2/catch.hpp>

#include "tests/unit/scratch_folder.h"

namespace barracuda::preload {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("the output is where ptxas puts it") {
  CHECK(read_assembler_call({"-arch=sm_90", "a.ptx"}).output == "elf.o");
  CHECK(read_assembler_call({"-o", "a.cubin", "a.ptx"}).output == "a.cubin");
  CHECK(read_assembler_call({"a.ptx", "--output-file", "b"}).output == "b");
  CHECK(read_assembler_call({"a.ptx", "--output-file=c=d"}).output == "c=d");
  CHECK(read_assembler_call({"-o"}).output == "elf.o");
}

TEST_CASE("words that are no options may be inputs, and the value of -o is none") {
  const AssemblerCall call =
      read_assembler_call({"-v", "--gpu-name", "sm_90", "a.ptx", "-o", "x.ptx", "b.ptx"});
  CHECK(call.files == Words{"sm_90", "a.ptx", "b.ptx"});
  CHECK_FALSE(call.reads_standard_input);
  CHECK(read_assembler_call({"-"}).reads_standard_input);
  CHECK(read_assembler_call({"/dev/stdin"}).reads_standard_input);
}

TEST_CASE("PTX may stand in the command line") {
  const std::string text =
      ".version 8.0\n.target sm_90\n.visible .entry k(.param .u64 a, .param .u64 b) { ret; }";
  CHECK(read_assembler_call({"-ias", text}).texts == Words{text});
  CHECK(read_assembler_call({"--input-as-string=" + text}).texts == Words{text});
  CHECK(read_assembler_call({"-ias", "no PTX"}).texts.empty());
}

TEST_CASE("options files are read, also one that names itself") {
  const ScratchFolder folder;
  std::ofstream(folder / "options")
      << "-arch=sm_90 'with blank.ptx'\n\t-o \"out file\" -optf " << folder / "options" << "\n";
  const AssemblerCall call = read_assembler_call({"--options-file", folder / "options"});
  CHECK(call.output == "out file");
  REQUIRE_FALSE(call.files.empty());
  CHECK(call.files.front() == "with blank.ptx");
  CHECK(read_assembler_call({"-optf", folder / "nothing", "a.ptx"}).files == Words{"a.ptx"});
}

}  // namespace
}  // namespace barracuda::preload
