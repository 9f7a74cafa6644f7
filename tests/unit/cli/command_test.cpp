#include <string>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/options.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

const std::string kCommand = BARRACUDA_COMMAND;

constexpr const char* kPtx = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

TEST_CASE("help goes to stdout and is no error") {
  const ShellResult help = shell(kCommand + " --help");
  CHECK(help.status == 0);
  CHECK(help.output.find("extract") != std::string::npos);
  CHECK(help.errors.empty());
  CHECK(shell(kCommand + " version").output.starts_with("barracuda "));
}

TEST_CASE("no command, and an unknown one, are status 64") {
  CHECK(shell(kCommand).status == 64);
  const ShellResult unknown = shell(kCommand + " rnu -- true");
  CHECK(unknown.status == 64);
  CHECK(unknown.errors.find("no command 'rnu'; did you mean 'run'?") != std::string::npos);
}

TEST_CASE("instrument prints PTX with the logging in it, or its sites") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "store.ptx", kPtx).has_value());
  const ShellResult text = shell(kCommand + " instrument " + (folder / "store.ptx"));
  CHECK(text.status == 0);
  CHECK(text.output.find("st.global.u32") != std::string::npos);
  CHECK(text.output.find("__barracuda_") != std::string::npos);
  const ShellResult sites = shell(kCommand + " instrument --sites " + (folder / "store.ptx"));
  CHECK(sites.status == 0);
  CHECK(sites.output.find("st.global.u32") != std::string::npos);
  CHECK(sites.output.find("instructions are logged\n") != std::string::npos);
  const std::string output = folder / "out.ptx";
  CHECK(shell(kCommand + " instrument " + (folder / "store.ptx") + " -o " + output).status == 0);
  CHECK(*read_file(output) == text.output);
}

TEST_CASE("instrument names the line of what it cannot parse") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "bad.ptx", ".version 9.0\n.target sm_90\n.entry {\n").has_value());
  const ShellResult result = shell(kCommand + " instrument " + (folder / "bad.ptx"));
  CHECK(result.status == 1);
  CHECK(result.errors.find("bad.ptx:3") != std::string::npos);
  CHECK(shell(kCommand + " instrument " + (folder / "missing.ptx")).status == 1);
  CHECK(shell(kCommand + " instrument " + (folder / "bad.ptx") + " -o /dev/full").status == 1);
}

}  // namespace
}  // namespace barracuda::cli
