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

void keep_worse(Coverage& coverage) {
  for (const std::string& kernel : coverage.not_instrumented) {
    coverage.instrumented.erase(kernel);
  }
}

std::string left_out(const Coverage& coverage) {
  if (coverage.left_out_launches == 0) {
    return "";
  }
  constexpr std::size_t kMostNames = 20;
  std::string names;
  for (std::size_t i = 0; i < std::min(coverage.left_out_kernels.size(), kMostNames); ++i) {
    names += (i == 0 ? ": " : ", ") + coverage.left_out_kernels[i];
  }
  if (coverage.left_out_kernels.size() > kMostNames) {
    names += fmt::format(" and {} more", coverage.left_out_kernels.size() - kMostNames);
  }
  return fmt::format(
      "left out by kernel-name, kernel-name-exclude, launch-skip or launch-count: "
      "{}{}{}",
      counted(coverage.left_out_launches, "launch"), names.empty() ? "" : ", among them all of",
      names);
}

std::string why_empty(const Coverage& coverage) {
  if (!coverage.is_empty()) {
    return "";
  }
  return coverage.launches == 0 ? "no kernel was launched" : "no kernel was checked";
}

Coverage coverage_of(const RunData& run) {
  Coverage coverage;
  coverage.launches = run.launch_count;
  const auto add = [&coverage](std::string gap) {
    if (std::ranges::find(coverage.gaps, gap) == coverage.gaps.end()) {
      coverage.gaps.push_back(std::move(gap));
    }
  };
  for (const KernelRecord& kernel : run.kernels) {
    const std::string name = demangle(kernel.name);
    coverage.left_out_launches += kernel.left_out_launches;
    if (kernel.left_out_launches != 0 && kernel.left_out_launches == kernel.launches) {
      coverage.left_out_kernels.push_back(name);
      continue;
    }
    // By its name: a module loaded twice has the same kernels, and so have two processes.
    (kernel.instrumented ? coverage.instrumented : coverage.not_instrumented).insert(name);
    if (!kernel.instrumented) {
      add(kernel_gap(kernel));
      continue;
    }
    if (kernel.unchecked_launches != 0) {
      const std::string reason = kernel.reason.empty() ? "" : ": " + kernel.reason;
      add(fmt::format("kernel {}: {} of {} not checked{}", demangle(kernel.name),
                      kernel.unchecked_launches, counted(kernel.launches, "launch"), reason));
    }
  }
  keep_worse(coverage);
  for (const ptx::NotCovered& gap : run.not_covered) {
    add(instruction_gap(gap));
  }
  for (const std::string& problem : run.problems) {
    add(problem);
  }
  return coverage;
}

}  // namespace barracuda::report
