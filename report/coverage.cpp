#include "report/coverage.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

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

std::string map_gap(const RunData& run, const detector::UnknownMap& unknown) {
  const ptx::Site& site = run.sites[static_cast<std::size_t>(unknown.site)];
  const std::string reason = fmt::format("its tensor map was made or changed out of sight ({})",
                                         counted(unknown.count, "time"));
  return instruction_gap({.function = site.function,
                          .instruction = site.instruction,
                          .reason = reason,
                          .ptx_line = site.ptx_line,
                          .where = site.frames.empty() ? ptx::SourceFrame{} : site.frames.front()});
}

using LibraryCounts = std::vector<std::pair<std::size_t, std::string>>;

// "libtorch_cuda.so 12, libcublas.so.13 5": the largest number first.
std::string by_library(LibraryCounts counts) {
  std::ranges::stable_sort(counts, std::greater(), &LibraryCounts::value_type::first);
  std::string text;
  for (const auto& [count, name] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

std::string uninstrumented_by_library(const Coverage& coverage) {
  LibraryCounts counts;
  for (const auto& [name, kernels] : coverage.libraries) {
    if (!kernels.not_instrumented.empty()) {
      counts.emplace_back(kernels.not_instrumented.size(), name);
    }
  }
  return by_library(std::move(counts));
}

// "3 of libraries (libcublas.so.13 2, libtorch_cuda.so 1)"; empty if there are none.
std::string left_out_of_libraries(const Coverage& coverage) {
  LibraryCounts counts;
  std::size_t all = 0;
  for (const auto& [name, kernels] : coverage.left_out_libraries) {
    counts.emplace_back(kernels.size(), name);
    all += kernels.size();
  }
  return all == 0 ? "" : fmt::format("{} of libraries ({})", all, by_library(std::move(counts)));
}

// Demangled names of templates have kilobytes. Counts bytes; no letter is cut in half.
std::string shortened(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) {
    return name;
  }
  std::size_t end = columns - 1;
  const auto is_inside_letter = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
  };
  while (end != 0 && is_inside_letter(name[end])) {
    --end;
  }
  return name.substr(0, end) + "…";
}

// The first kernels, as many as there is room for, and how many more there are.
std::string some_kernels(const std::vector<std::string>& kernels, std::size_t columns) {
  constexpr std::size_t kMostNames = 3;
  constexpr std::size_t kLeastOfAName = 24;
  std::string text;
  std::size_t shown = 0;
  for (; shown < std::min(kernels.size(), kMostNames); ++shown) {
    const std::size_t left = columns - std::min(columns, text.size() + 2);
    if (shown != 0 && left < std::min(kernels[shown].size(), kLeastOfAName)) {
      break;
    }
    text += (shown == 0 ? "" : ", ") + shortened(kernels[shown], std::max(left, kLeastOfAName));
  }
  return text + (shown == kernels.size() ? "" : fmt::format(", {} more", kernels.size() - shown));
}

// To those of the program, or of a library.
template <typename Kernels>
void add_kernel(Kernels& kernels, const KernelRecord& kernel) {
  (kernel.instrumented ? kernels.instrumented : kernels.not_instrumented)
      .insert(demangle(kernel.name));
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
  for (auto& [name, kernels] : coverage.libraries) {
    for (const std::string& kernel : kernels.not_instrumented) {
      kernels.instrumented.erase(kernel);
    }
  }
}

bool Coverage::complete() const {
  return program_complete() && instrumented_kernels() == kernels();
}

std::size_t Coverage::kernels() const {
  std::size_t count = instrumented.size() + not_instrumented.size();
  for (const auto& [name, kernels] : libraries) {
    count += kernels.instrumented.size() + kernels.not_instrumented.size();
  }
  return count;
}

std::size_t Coverage::instrumented_kernels() const {
  std::size_t count = instrumented.size();
  for (const auto& [name, kernels] : libraries) {
    count += kernels.instrumented.size();
  }
  return count;
}

std::string kernel_counts(const Coverage& coverage) {
  const std::size_t own = coverage.instrumented.size() + coverage.not_instrumented.size();
  if (coverage.libraries.empty()) {
    return fmt::format("kernels {}/{} instrumented", coverage.instrumented.size(), own);
  }
  const std::string missing = uninstrumented_by_library(coverage);
  return fmt::format("kernels {}/{} of the program, {}/{} of libraries{}",
                     coverage.instrumented.size(), own,
                     coverage.instrumented_kernels() - coverage.instrumented.size(),
                     coverage.kernels() - own, missing.empty() ? "" : " (" + missing + ")");
}

std::string library_gap(const Coverage& coverage) {
  const std::string missing = uninstrumented_by_library(coverage);
  return missing.empty() ? "" : "kernels of libraries that are not instrumented: " + missing;
}

std::string left_out(const Coverage& coverage) {
  if (coverage.left_out_launches == 0) {
    return "";
  }
  constexpr std::size_t kColumns = 160;
  constexpr std::size_t kAround = 24;  // "BARRACUDA: ", "2000 more"
  std::string text = "left out by kernel-name, kernel-name-exclude, launch-skip or launch-count: " +
                     counted(coverage.left_out_launches, "launch");
  const std::string libraries = left_out_of_libraries(coverage);
  if (libraries.empty() && coverage.left_out_kernels.empty()) {
    return text;
  }
  text += ", among them all of: ";
  const std::size_t taken = std::min(kColumns, kAround + text.size() + libraries.size());
  text += some_kernels(coverage.left_out_kernels, kColumns - taken);
  return text + (libraries.empty() || coverage.left_out_kernels.empty() ? "" : ", ") + libraries;
}

std::string why_empty(const Coverage& coverage) {
  if (!coverage.is_empty()) {
    return "";
  }
  return coverage.launches == 0 ? "no kernel was launched" : "no kernel was checked";
}

std::vector<std::string> gaps_of(const Report& report) {
  std::vector<std::string> gaps = report.coverage.gaps;
  gaps.insert(gaps.end(), report.lost.begin(), report.lost.end());
  gaps.insert(gaps.end(), report.blocked.begin(), report.blocked.end());
  if (std::string libraries = library_gap(report.coverage); !libraries.empty()) {
    gaps.push_back(std::move(libraries));
  }
  if (std::string nothing = why_empty(report.coverage);
      gaps.empty() && !nothing.empty() && failures_of(report).empty()) {
    const std::string by_options = left_out(report.coverage);
    gaps.push_back(by_options.empty() ? std::move(nothing) : nothing + "; " + by_options);
  }
  return gaps;
}

std::vector<std::string> failures_of(const Report& report) {
  std::vector<std::string> failures;
  for (const std::string* const failure : {&report.option_error, &report.tool_failure}) {
    if (!failure->empty()) {
      failures.push_back(*failure);
    }
  }
  return failures;
}

std::vector<std::string> gaps_and_failures(const Report& report) {
  std::vector<std::string> all = gaps_of(report);
  std::ranges::move(failures_of(report), std::back_inserter(all));
  return all;
}

namespace {

void add_gap(Coverage& coverage, std::string gap) {
  if (std::ranges::find(coverage.gaps, gap) == coverage.gaps.end()) {
    coverage.gaps.push_back(std::move(gap));
  }
}

// Adds what the options left out of `kernel`'s launches; true if there is nothing else to say of
// it.
bool add_left_out(Coverage& coverage, const KernelRecord& kernel, const std::string* library) {
  coverage.left_out_launches += kernel.left_out_launches;
  if (kernel.left_out_launches == 0 || kernel.left_out_launches != kernel.launches) {
    return false;
  }
  if (library != nullptr) {
    coverage.left_out_libraries[*library].insert(demangle(kernel.name));
  } else {
    coverage.left_out_kernels.push_back(demangle(kernel.name));
  }
  return true;
}

void add_kernel_and_gaps(Coverage& coverage, const KernelRecord& kernel,
                         const std::string* library) {
  if (add_left_out(coverage, kernel, library)) {
    return;
  }
  if (library != nullptr) {
    add_kernel(coverage.libraries[*library], kernel);
  } else {
    add_kernel(coverage, kernel);
  }
  if (!kernel.instrumented) {
    if (library == nullptr) {
      add_gap(coverage, kernel_gap(kernel));  // those of libraries are one sentence, library_gap()
    }
    return;
  }
  if (kernel.unchecked_launches != 0) {
    const std::string reason = kernel.reason.empty() ? "" : ": " + kernel.reason;
    add_gap(coverage,
            fmt::format("kernel {}: {} of {} not checked{}", demangle(kernel.name),
                        kernel.unchecked_launches, counted(kernel.launches, "launch"), reason));
  }
}

}  // namespace

std::string malformed_records_gap(std::uint64_t records) {
  return counted(records, "record") + (records == 1 ? " was malformed" : " were malformed");
}

std::string frequent_races_gap(std::uint64_t race_limit) {
  return fmt::format(
      "races were counted {} times and more: what their instructions did then was not logged, so "
      "other races of theirs may be missing, and where they are volatile or relaxed, races of "
      "their kernel within a block (race-limit=0 logs it)",
      race_limit);
}

Coverage coverage_of(const RunData& run) {
  Coverage coverage;
  coverage.launches = run.launch_count;
  for (const KernelRecord& kernel : run.kernels) {
    // By its name: a module loaded twice has the same kernels, and so have two processes.
    const auto library = run.kernel_libraries.find(kernel.name);
    add_kernel_and_gaps(coverage, kernel,
                        library == run.kernel_libraries.end() ? nullptr : &library->second);
  }
  keep_worse(coverage);
  for (const ptx::NotCovered& gap : run.not_covered) {
    add_gap(coverage, instruction_gap(gap));
  }
  for (const detector::UnknownMap& unknown : run.findings.unknown_maps) {
    add_gap(coverage, map_gap(run, unknown));
  }
  for (const std::string& problem : run.problems) {
    add_gap(coverage, problem);
  }
  return coverage;
}

}  // namespace barracuda::report
