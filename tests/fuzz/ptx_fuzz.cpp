// Damaged PTX: an error with its place or a module, which everything that reads modules must bear.
#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "campaign.h"
#include "ptx/control_flow.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::fuzz {
namespace {

bool reads(const std::string& input) {
  auto module = ptx::parse(input);
  if (!module) {
    CHECK_FALSE(module.error().message.empty());
    CHECK(module.error().line > 0);
    return false;
  }
  const auto again = ptx::parse(ptx::print(*module));
  CHECK((again && ptx::equal(*module, *again)));
  for (const ptx::Function& function : module->functions) {
    const auto flow = ptx::build_control_flow(*module, function);
    CHECK((flow || !flow.error().message.empty()));
  }
  std::vector<ptx::Module> units;
  units.push_back(std::move(*module));
  const auto instrumented = ptx::instrument(std::move(units), {});
  CHECK((instrumented || !instrumented.error().message.empty()));
  return true;
}

TEST_CASE("no damage makes the PTX parser crash, hang or ask for absurd memory") {
  std::vector<std::string> more;
  for (const auto& entry :
       std::filesystem::directory_iterator(BARRACUDA_SOURCE_DIR "/tests/golden/ptx/cases")) {
    if (entry.path().extension() == ".ptx") {
      more.push_back(read_file(entry.path()).value());
    }
  }
  std::ranges::sort(more);
  const Tally tally = run({.corpus = "ptx", .more = more, .repair = nullptr, .accepts = reads});
  CHECK(tally.accepted > 0);
  CHECK(tally.refused > 0);
}

}  // namespace
}  // namespace barracuda::fuzz
