#include "report/coverage.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

std::string kernel_gap(const KernelRecord& kernel) {
  return fmt::format("kernel {}: {} ({})", demangle(kernel.name),
                     kernel.reason.empty() ? "not instrumented" : kernel.reason,
                     counted(kernel.launches, "launch"));
}

std::string instruction_gap(const ptx::NotCovered& gap) {
  std::string text = gap.instruction.empty() ? "function" : gap.instruction + " in";
  text += " " + demangle(gap.function);
  if (gap.where.line != 0) {
    text += fmt::format(" at {}:{}", gap.where.file, gap.where.line);
  } else if (gap.ptx_line != 0) {
    text += fmt::format(" at line {} of its PTX", gap.ptx_line);
  }
  text += ": " + gap.reason;
  if (gap.count > 1) {
    text += fmt::format(" ({} instructions)", gap.count);
  }
  return text;
}

}  // namespace

std::string counted(std::uint64_t count, const std::string& noun) {
  const char* const plural = noun.ends_with("ch") ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : plural);
}

Coverage coverage_of(const RunData& run) {
  Coverage coverage;
  coverage.launches = run.launch_count;
  coverage.kernels = run.kernels.size();
  const auto add = [&coverage](std::string gap) {
    if (std::ranges::find(coverage.gaps, gap) == coverage.gaps.end()) {
      coverage.gaps.push_back(std::move(gap));
    }
  };
  for (const KernelRecord& kernel : run.kernels) {
    if (!kernel.instrumented) {
      add(kernel_gap(kernel));
      continue;
    }
    ++coverage.instrumented;
    if (kernel.unchecked_launches != 0) {
      const std::string reason = kernel.reason.empty() ? "" : ": " + kernel.reason;
      add(fmt::format("kernel {}: {} of {} not checked{}", demangle(kernel.name),
                      kernel.unchecked_launches, counted(kernel.launches, "launch"), reason));
    }
  }
  for (const ptx::NotCovered& gap : run.not_covered) {
    add(instruction_gap(gap));
  }
  for (const std::string& problem : run.problems) {
    add(problem);
  }
  return coverage;
}

}  // namespace barracuda::report
