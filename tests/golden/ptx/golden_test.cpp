// Every cases/NAME.ptx is instrumented and compared with cases/NAME.expected: the program with its
// hooks (without the logger's own functions), the sites, the kernels and what is not covered.
// Cases whose name begins with paper_ are instrumented for model=paper.
// BARRACUDA_UPDATE_GOLDEN=1 writes the expectations instead (tools/update_golden.sh).
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "base/strong_id.h"
#include "device_logger/symbols.h"
#include "instrumented.h"
#include "ptx/edit_order.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "site_names.h"

namespace barracuda::ptx {
namespace {

namespace fs = std::filesystem;

std::string program_text(const std::string& instrumented) {
  auto module = parse(instrumented);
  REQUIRE(module);
  std::vector<Statement> kept;
  for (std::size_t i = 0; i < module->statements.size(); ++i) {
    const Statement& statement = module->statements[i];
    const bool is_ours = statement.kind == StatementKind::kFunction &&
                         module->functions[statement.function].name.starts_with(wire::kPrefix);
    if (is_ours) {
      i = module->functions[statement.function].body_end;
    } else {
      kept.push_back(statement);
    }
  }
  module->statements = std::move(kept);
  return print(*module);
}

std::string describe(const Site& site) {
  std::string text =
      fmt::format("site {}: {} line {}, {}, order {}, scope {}, proxy {}, {} x {} bytes",
                  index_of(site.id), site.instruction, site.ptx_line, name_of(site.info.operation),
                  word_of(site.info.order), word_of(site.info.scope), name_of(site.info.proxy),
                  site.info.element_count, site.info.element_bytes);
  text += site.info.numbered ? ", numbered" : "";
  text += site.info.flag_store ? ", flag store" : "";
  text += site.info.poll ? ", poll" : "";
  text += site.info.waits_for_change
              ? fmt::format(", waits for a change of {:#x}", site.info.constant)
              : "";
  text += site.info.speculated ? ", speculated" : "";
  text += site.info.asynchrony == wire::Asynchrony::kNone
              ? ""
              : fmt::format(", waited for by {}", name_of(site.info.asynchrony));
  text += site.info.reads_only ? ", reads only" : "";
  text += site.info.is_unscoped ? ", unscoped" : "";
  text += site.info.stores_constant ? fmt::format(", constant {:#x}", site.info.constant) : "";
  if (site.info.operation == wire::Operation::kBranch ||
      site.info.operation == wire::Operation::kSwitch ||
      site.info.operation == wire::Operation::kMeet) {
    text += fmt::format(", meeting {}", static_cast<std::int64_t>(site.info.constant));
  }
  if (site.info.acquires != wire::FenceScope::kNone ||
      site.info.releases != wire::FenceScope::kNone) {
    text += fmt::format(", acquires {}, releases {}", name_of(site.info.acquires),
                        name_of(site.info.releases));
  }
  for (const SourceFrame& frame : site.frames) {
    text += fmt::format("\n  in {} {}:{}:{}", frame.function, frame.file, frame.line, frame.column);
  }
  return text + "\n";
}

std::string describe(const InstrumentedModule& module) {
  std::string text = program_text(module.text) + "\n";
  for (const Site& site : module.sites) {
    text += describe(site);
  }
  for (const Kernel& kernel : module.kernels) {
    text += fmt::format("kernel {}{}:", kernel.name, kernel.numbered ? " (numbered)" : "");
    for (const auto& parameter : kernel.parameters) {
      text += fmt::format(" {}+{}", parameter.offset, parameter.size);
    }
    text += kernel.instrumented ? fmt::format(", hidden {}\n", kernel.hidden_parameter_offset)
            : kernel.is_empty   ? ", nothing to log\n"
                                : fmt::format(", not instrumented: {}\n", kernel.reason);
  }
  for (const NotCovered& missing : module.not_covered) {
    text += fmt::format("not covered: {} {} line {}: {}\n", missing.function, missing.instruction,
                        missing.ptx_line, missing.reason);
  }
  return text + fmt::format("{} of {} instructions logged\n", module.logged_instructions,
                            module.instructions);
}

}  // namespace

TEST_CASE("every golden case is instrumented as expected, and ptxas assembles it") {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(BARRACUDA_GOLDEN_CASES)) {
    if (entry.path().extension() == ".ptx") {
      cases.push_back(entry.path());
    }
  }
  std::ranges::sort(cases);
  REQUIRE(cases.size() >= 10);
  for (const fs::path& path : cases) {
    INFO(path);
    const bool for_paper = path.filename().string().starts_with("paper_");
    const InstrumentedModule module = instrument_files({path}, {.for_paper = for_paper});
    CHECK(assemble(module.text) == "");
    const std::string actual = describe(module);
    fs::path expected = path;
    expected.replace_extension(".expected");
    if (std::getenv("BARRACUDA_UPDATE_GOLDEN") != nullptr) {
      REQUIRE(write_file(expected, actual));
    }
    CHECK(actual == read_file(expected).value_or("(there is no such file)"));
  }
}

}  // namespace barracuda::ptx
