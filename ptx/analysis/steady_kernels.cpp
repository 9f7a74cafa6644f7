#include "ptx/analysis/steady_kernels.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string_view>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/parameter_words.h"

namespace barracuda::ptx {
namespace {

// The same for each launch of one shape. Not the clocks, and not where a warp happens to run.
bool is_steady_special(std::string_view name) {
  constexpr std::string_view kSteady[] = {"%tid",
                                          "%ntid",
                                          "%ctaid",
                                          "%nctaid",
                                          "%laneid",
                                          "%lanemask_eq",
                                          "%lanemask_le",
                                          "%lanemask_lt",
                                          "%lanemask_ge",
                                          "%lanemask_gt",
                                          "%clusterid",
                                          "%nclusterid",
                                          "%cluster_ctaid",
                                          "%cluster_nctaid",
                                          "%cluster_ctarank",
                                          "%cluster_nctarank",
                                          "%dynamic_smem_size"};
  return std::ranges::find(kSteady, name) != std::end(kSteady);
}

class Reader {
 public:
  Reader(const Program& program, std::uint32_t entry)
      : program_(program),
        function_(program.function(entry)),
        parameters_(program.module, function_) {}

  bool is_steady(std::span<const PlannedSite> sites) {
    // In any order of the text: until no register becomes unsteady any more.
    for (std::size_t before = unsteady_.size() + 1; before != unsteady_.size();) {
      before = unsteady_.size();
      for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
        spread(i);
      }
    }
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      if (program_.module.statements[i].kind == StatementKind::kInstruction && !may_stand(i)) {
        return false;
      }
    }
    return std::ranges::none_of(
        sites, [this](const PlannedSite& site) { return names_unsteady(site.use_condition); });
  }

 private:
  // In the text that says which lanes make something of what they read.
  [[nodiscard]] bool names_unsteady(std::string_view condition) const {
    const auto is_of_name = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '_' || c == '$' || c == '%';
    };
    for (std::size_t at = 0, end = 0; at < condition.size(); at = end + 1) {
      for (end = at; end < condition.size() && is_of_name(condition[end]);) {
        ++end;
      }
      if (unsteady_.contains(condition.substr(at, end - at))) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_unsteady(const Operand& operand) const {
    const bool is = operand.kind == Operand::Kind::kSpecial    ? !is_steady_special(operand.name)
                    : operand.kind == Operand::Kind::kRegister ? unsteady_.contains(operand.name)
                                                               : false;
    return is || std::ranges::any_of(operand.elements, [this](const Operand& element) {
             return is_unsteady(element);
           });
  }

  [[nodiscard]] bool has_unsteady_predicate(const Instruction& instruction) const {
    return !instruction.predicate.empty() && unsteady_.contains(instruction.predicate);
  }

  [[nodiscard]] bool reads_own_argument(const Instruction& load) const {
    return parameters_.word_of(load, 0, size_of(load.last_type())).has_value();
  }

  // The registers that an unsteady instruction writes become so.
  void spread(std::size_t statement) {
    const Instruction& instruction = program_.module.statements[statement].instruction;
    const OpcodeClass opcode_class = program_.effects[statement].opcode_class;
    // What begins with an address, and a branch, writes none.
    if (program_.module.statements[statement].kind != StatementKind::kInstruction ||
        instruction.operands.empty() || instruction.operands[0].kind == Operand::Kind::kAddress ||
        opcode_class == OpcodeClass::kStore || opcode_class == OpcodeClass::kReduction ||
        opcode_class == OpcodeClass::kBranch) {
      return;
    }
    const std::span sources = std::span(instruction.operands).subspan(1);
    const bool is_steady =
        opcode_class == OpcodeClass::kArithmetic
            ? std::ranges::none_of(sources,
                                   [this](const Operand& source) { return is_unsteady(source); })
            : opcode_class == OpcodeClass::kLoad && reads_own_argument(instruction);
    if (!is_steady || has_unsteady_predicate(instruction)) {
      visit_registers(instruction.operands[0],
                      [this](const Operand& name) { unsteady_.insert(name.name); });
    }
  }

  // Whether what the instruction does for others is the same each time.
  [[nodiscard]] bool may_stand(std::size_t statement) const {
    using enum OpcodeClass;
    const Instruction& instruction = program_.module.statements[statement].instruction;
    const Effect& effect = program_.effects[statement];
    switch (effect.opcode_class) {
      case kArithmetic:
      case kNoEffect:
      case kWarpCollective:
        return true;
      case kLoad:
      case kStore:
      case kReduction:
      case kAtomic:
      case kMatrixAccess:
        return !has_unsteady_predicate(instruction) && has_steady_address(instruction, effect);
      case kAsyncCopy:
      case kBarrier:
      case kBarrierArrive:
      case kWarpBarrier:
      case kBranch:
      case kReturn:
      case kExit:
        // All that they name, but what a barrier gives back.
        return !has_unsteady_predicate(instruction) &&
               std::ranges::none_of(
                   std::span(instruction.operands).subspan(first_asked(instruction, effect)),
                   [this](const Operand& operand) { return is_unsteady(operand); });
      case kFence:
      case kProxyFence:
      case kClusterBarrier:
      case kGridDependency:
      case kMbarrier:
      case kCall:
      case kTrap:
      case kTexture:
      case kUnknown:
        return false;
    }
    return false;
  }

  static std::size_t first_asked(const Instruction& instruction, const Effect& effect) {
    return effect.opcode_class == OpcodeClass::kBarrier && instruction.has(Modifier::kRed) ? 1 : 0;
  }

  // Memory of its own and arguments are nobody else's.
  [[nodiscard]] bool has_steady_address(const Instruction& instruction,
                                        const Effect& effect) const {
    if (effect.space == StateSpace::kLocal || effect.space == StateSpace::kParam) {
      return true;
    }
    return effect.address_operand >= 0 &&
           static_cast<std::size_t>(effect.address_operand) < instruction.operands.size() &&
           !is_unsteady(instruction.operands[static_cast<std::size_t>(effect.address_operand)]);
  }

  const Program& program_;
  const Function& function_;
  ParameterWords parameters_;
  std::set<std::string_view> unsteady_;
};

}  // namespace

bool is_steady(const Program& program, std::uint32_t entry, std::span<const PlannedSite> sites) {
  const FunctionFacts& facts = program.functions[entry];
  return !facts.synchronises && !facts.has_fence && !facts.spins &&
         Reader(program, entry).is_steady(sites);
}

}  // namespace barracuda::ptx
