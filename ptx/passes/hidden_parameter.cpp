#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/align.h"
#include "device_logger/symbols.h"
#include "ptx/abi.h"
#include "ptx/analysis/global_writes.h"
#include "ptx/analysis/grid_dependency.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/shared_layout.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::hidden_parameter {
namespace {

constexpr std::uint64_t kHiddenBytes = 8;  // at least
// What matrix units and bulk copies read and write in shared memory is swizzled by bits of the
// address itself, so the memory must stay where it would be without our word, modulo 1024 bytes:
// their widest pattern (PTX ISA, wgmma's matrix descriptor). Triton counts on it, and declares its
// dynamic memory as aligned to 16 bytes.
constexpr std::uint32_t kSwizzleBytes = 1024;
// And what is read as vectors or by matrix units is aligned to at most 32 bytes (wmma), often by no
// more than that it comes first.
static_assert(wire::kBlockWordsBytes == 32);

bool swizzles(const Module& module) {
  return std::ranges::any_of(module.statements, [](const Statement& statement) {
    const Instruction& instruction = statement.instruction;
    return statement.kind == StatementKind::kInstruction &&
           (instruction.opcode == Opcode::kWgmma || instruction.opcode == Opcode::kTcgen05 ||
            instruction.mnemonic.find(".tensor") != std::string_view::npos);
  });
}

// The variables of a module in a state space.
class VariablesOf {
 public:
  VariablesOf(const Module& module, StateSpace space) {
    for (const Statement& statement : module.statements) {
      for (const Variable& variable : statement.variables) {
        if (statement.kind == StatementKind::kVariable && variable.space == space) {
          names_.insert(variable.name);
        }
      }
    }
  }

  // Those that an entry may access.
  [[nodiscard]] std::vector<std::string> of(const Program& program,
                                            const FunctionFacts& entry) const {
    std::set<std::string> used;
    for (const std::uint32_t index : entry.reachable) {
      for (const std::string_view symbol : program.functions[index].symbols) {
        if (names_.contains(symbol)) {
          used.emplace(symbol);
        }
      }
    }
    return {used.begin(), used.end()};
  }

 private:
  std::set<std::string_view> names_;
};

// An upper bound of what ptxas places statically for the entry: all it may reach.
class SharedMemory {
 public:
  explicit SharedMemory(const Program& program) : program_(program) {
    for_each_of_module(program.module, [this](const Statement&, const Variable& variable) {
      if (variable.space == StateSpace::kShared) {
        (variable.is_extern ? dynamic_ : variables_).push_back(&variable);
      }
    });
  }

  [[nodiscard]] std::uint64_t bytes_of(const FunctionFacts& entry) const {
    std::uint64_t bytes = 0;
    for_each_static(entry, [&](const Variable& variable) { bytes = add(bytes, variable); });
    return bytes;
  }

  // Those that the entry's own code names, as the emulated device places them.
  [[nodiscard]] std::vector<PlacedVariable> placed(const Function& function,
                                                   const FunctionFacts& entry,
                                                   std::uint64_t word_bytes) const {
    const std::vector<SharedPlace> layout = shared_layout(program_.module, function, word_bytes);
    std::vector<PlacedVariable> places;
    places.reserve(layout.size());
    for (const SharedPlace& place : layout) {
      places.push_back(
          {.name = place.variable->name, .offset = place.offset, .bytes = place.variable->size()});
    }
    std::size_t statics = 0;
    for_each_static(entry, [&](const Variable&) { ++statics; });
    if (statics > layout.size()) {
      return places;  // of functions that it calls: what is dynamic lies behind these
    }
    const std::uint64_t end = layout.empty() ? word_bytes : layout.back().end();
    const std::uint64_t begin = align_up(end, dynamic_alignment(entry));
    for (const Variable* variable : dynamic_) {
      places.push_back({.name = variable->name, .offset = begin, .bytes = 0});
    }
    return places;
  }

  // At most the size that the driver gives for it: what is static ends where what is dynamic may
  // begin, and ptxas places all variables of the module in each kernel if it compiles fast.
  [[nodiscard]] std::uint64_t size_of(const FunctionFacts& entry) const {
    std::uint64_t bytes = bytes_of(entry);
    for (const Variable* variable : variables_) {
      bytes = reaches(program_, entry, variable->name) ? bytes : add(bytes, *variable);
    }
    return uses_dynamic(entry) ? align_up(bytes, dynamic_alignment(entry)) : bytes;
  }

 private:
  [[nodiscard]] bool uses_dynamic(const FunctionFacts& entry) const {
    return std::ranges::any_of(
        dynamic_, [&](const Variable* each) { return reaches(program_, entry, each->name); });
  }

  [[nodiscard]] std::uint32_t dynamic_alignment(const FunctionFacts& entry) const {
    std::uint32_t alignment = 16;
    for (const Variable* variable : dynamic_) {
      if (reaches(program_, entry, variable->name)) {
        alignment = std::max(alignment, alignment_of(*variable));
      }
    }
    return alignment;
  }

  // Those that the entry may reach.
  template <typename Visit>
  void for_each_static(const FunctionFacts& entry, Visit visit) const {
    for (const Variable* variable : variables_) {
      if (reaches(program_, entry, variable->name)) {
        visit(*variable);
      }
    }
    for (const std::uint32_t index : entry.reachable) {
      const Function& function = program_.function(index);
      for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
        for (const Variable& variable : program_.module.statements[i].variables) {
          if (variable.space == StateSpace::kShared) {
            visit(variable);
          }
        }
      }
    }
  }

  static std::uint64_t add(std::uint64_t bytes, const Variable& variable) {
    return align_up(bytes, alignment_of(variable)) + variable.size();
  }

  const Program& program_;
  std::vector<const Variable*> variables_, dynamic_;
};

// Kernels that are not instrumented, and what only these call.
void name_what_is_not_logged(Program& program) {
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.function(i);
    const Kernel* kernel = program.find_kernel(function.name);
    if (kernel != nullptr && !kernel->instrumented) {
      program.functions[i].is_instrumented = false;
      if (!kernel->is_empty) {
        program.not_covered.push_back({.function = kernel->name, .reason = kernel->reason});
      }
    } else if (function.has_body && !program.functions[i].is_instrumented &&
               program.functions[i].may_log) {
      program.not_covered.push_back(
          {.function = std::string(function.name),
           .reason = "a kernel without room for the launch descriptor may call it"});
    }
  }
}

}  // namespace

Expected<void> run(Program& program) {
  const SharedMemory shared(program);
  const VariablesOf constants(program.module, StateSpace::kConst),
      variables(program.module, StateSpace::kGlobal);
  if (swizzles(program.module)) {
    program.descriptor_alignment = kSwizzleBytes;
  }
  const std::uint64_t word_bytes = program.descriptor_alignment;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& entry = program.function(i);
    if (!entry.is_entry || !entry.has_body) {
      continue;
    }
    FunctionFacts& facts = program.functions[i];
    ParameterLayout layout = parameter_layout(entry);
    Kernel kernel{.name = std::string(entry.name), .parameters = std::move(layout.places)};
    const std::uint64_t offset = align_up(layout.bytes, kHiddenBytes);
    const std::uint64_t shared_bytes = align_up(shared.bytes_of(facts), word_bytes);
    if (facts.is_empty) {
      // Libraries ask such kernels what a device can do, and all of a block's shared memory must
      // be theirs.
      kernel.is_empty = true;
    } else if (shared_bytes + word_bytes > kStaticSharedBytes) {
      kernel.reason =
          fmt::format("its {} bytes of static shared memory leave no room", shared.bytes_of(facts));
      // Nothing that it calls may use our shared word either.
      for (const std::uint32_t callee : facts.reachable) {
        program.functions[callee].is_instrumented = false;
      }
    } else if (offset + kHiddenBytes > parameter_limit(program.module)) {
      kernel.reason = fmt::format("its {} bytes of parameters leave no room", offset);
      facts.stores_null_descriptor = facts.may_log;
    } else {
      kernel.shared_bytes = static_cast<std::uint32_t>(shared.size_of(facts));
      kernel.logger_bytes = program.descriptor_alignment;
      kernel.hidden_parameter_offset = static_cast<std::uint32_t>(offset);
      kernel.instrumented = true;
      if (program.options.is_emulated) {
        facts.placed_shared = shared.placed(entry, facts, word_bytes);
      }
    }
    kernel.constants = constants.of(program, facts);
    kernel.variables = variables.of(program, facts);
    kernel.numbered = facts.is_numbered;
    kernel.writes = find_global_writes(program, i);
    kernel.lets_dependents_begin = lets_dependents_begin(program, i);
    TRY(kernel.waits_first, waits_first(program, i));
    program.kernels.push_back(std::move(kernel));
  }
  name_what_is_not_logged(program);
  return {};
}

}  // namespace barracuda::ptx::hidden_parameter
