// NVIDIA's compiler lays shared variables out in the order of their declaration; with
// --Ofast-compile=min, as instrumented code is compiled, by their alignment
// (docs/decisions/shared-places.md). A program that says `__shared__ int tile[64]` and copies it 16
// bytes at a time has relied on the former.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/align.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/shared_layout.h"
#include "ptx/mnemonic.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::shared_alignment {
namespace {

// What wmma.load asks for, more than any access of a thread, and what copies by tensor maps do.
constexpr std::uint64_t kOfMatrices = 32, kOfTensorCopies = 128;

bool is_laid_out(const Variable& variable) {
  return variable.space == StateSpace::kShared && !variable.is_extern;
}

// What is larger begins at such a multiple, as it mostly does where all is in order.
std::uint64_t wanted_of(const Variable& variable, std::uint64_t most) {
  return std::max<std::uint64_t>(
      alignment_of(variable),
      std::min(std::bit_floor(std::max<std::uint64_t>(variable.size(), 1)), most));
}

std::string aligned_text(std::string_view text, std::uint64_t alignment) {
  constexpr std::string_view kAlign = ".align ", kShared = ".shared";
  const std::size_t said = text.find(kAlign);
  if (said != std::string_view::npos) {
    const std::size_t number = said + kAlign.size();
    const std::size_t end = text.find_first_not_of("0123456789", number);
    return fmt::format("{}{}{}", text.substr(0, number), alignment, text.substr(end));
  }
  const std::size_t behind = text.find(kShared) + kShared.size();
  return fmt::format("{} .align {}{}", text.substr(0, behind), alignment, text.substr(behind));
}

// Of one kernel, at most.
std::uint64_t most_bytes(const Module& module, std::uint64_t most) {
  const auto bytes_of = [&](const Variable& variable) {
    return is_laid_out(variable) ? align_up(variable.size(), wanted_of(variable, most)) : 0;
  };
  std::uint64_t of_all = 0;  // and of functions that it may call
  for_each_of_module(
      module, [&](const Statement&, const Variable& variable) { of_all += bytes_of(variable); });
  std::uint64_t of_kernel = 0;
  for (const Function& function : module.functions) {
    std::uint64_t bytes = 0;
    for (std::size_t i = function.body_begin; function.has_body && i < function.body_end; ++i) {
      for (const Variable& variable : module.statements[i].variables) {
        bytes += bytes_of(variable);
      }
    }
    of_kernel = function.is_entry ? std::max(of_kernel, bytes) : of_kernel;
    of_all += function.is_entry ? 0 : bytes;
  }
  return of_all + of_kernel;
}

}  // namespace

Expected<void> run(Program& program) {
  if (program.options.is_emulated) {
    return {};
  }
  const bool copies_tensors = program.descriptor_alignment > wire::kBlockWordsBytes;
  const std::uint64_t most = copies_tensors ? kOfTensorCopies : kOfMatrices;
  if (most_bytes(program.module, most) + program.descriptor_alignment > kStaticSharedBytes) {
    return {};  // a kernel may need what the gaps would take
  }
  for (Statement& statement : program.module.statements) {
    if (statement.variables.size() != 1 || !is_laid_out(statement.variables.front())) {
      continue;
    }
    Variable& variable = statement.variables.front();
    const std::uint64_t wanted = wanted_of(variable, most);
    if (wanted > alignment_of(variable)) {
      statement.text = program.module.own(aligned_text(statement.text, wanted));
      variable.align = static_cast<std::uint32_t>(wanted);
    }
  }
  return {};
}

}  // namespace barracuda::ptx::shared_alignment
