#include "cli/instrument.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strong_id.h"
#include "cli/complain.h"
#include "cli/ptx_file.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "report/symbol_name.h"

namespace barracuda::cli {
namespace {

Expected<ptx::InstrumentedModule> instrument_file(const InstrumentCommand& command) {
  TRY(std::string text, read_ptx(command.file));
  TRY(ptx::Module module, ptx::parse(std::move(text)));
  std::vector<ptx::Module> units;
  units.push_back(std::move(module));
  return ptx::instrument(std::move(units), {.reduce_in_block = command.reduce_in_block,
                                            .tells_shared_places = true,
                                            .has_shortcuts = true});
}

std::string site_line(const ptx::Site& site) {
  std::string text = fmt::format("{:>6}  line {:<6} {:<32} {}", index_of(site.id), site.ptx_line,
                                 site.instruction, report::demangle(site.function));
  for (const ptx::SourceFrame& frame : site.frames) {
    if (frame.line != 0) {
      text += fmt::format("  {}:{}", frame.file, frame.line);
    }
  }
  return text + "\n";
}

std::string site_table(const ptx::InstrumentedModule& module) {
  std::string text;
  for (const ptx::Site& site : module.sites) {
    text += site_line(site);
  }
  for (const ptx::NotCovered& gap : module.not_covered) {
    text += fmt::format("not covered: line {} {} in {}: {}\n", gap.ptx_line, gap.instruction,
                        report::demangle(gap.function), gap.reason);
  }
  for (const ptx::RegisterHazard& hazard : module.register_hazards) {
    text += fmt::format("register {}: line {} {}, line {} {} in {}\n", hazard.register_name,
                        hazard.product.ptx_line, hazard.product.instruction, hazard.touch.ptx_line,
                        hazard.touch.instruction, report::demangle(hazard.function));
  }
  return text + fmt::format("{} of {} instructions are logged\n", module.logged_instructions,
                            module.instructions);
}

int fail(const Diagnostic& problem) {
  complain(problem.to_string());
  return 1;
}

}  // namespace

int instrument(const InstrumentCommand& command) {
  const auto module = instrument_file(command);
  if (!module) {
    Diagnostic problem = module.error();
    problem.file = problem.file.empty() ? command.file : problem.file;
    return fail(problem);
  }
  const std::string text = command.sites ? site_table(*module) : module->text;
  if (command.output.empty()) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? 0 : fail({.message = "standard output could not be written"});
  }
  if (auto written = write_file(command.output, text); !written) {
    return fail(written.error());
  }
  return 0;
}

}  // namespace barracuda::cli
