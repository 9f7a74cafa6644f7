#include "ptx/analysis/uniform_blocks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/steady_loads.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

bool is_same_for_all(std::string_view special) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%gridid", "%cluster_ctaid",
       "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank", "%nwarpid", "%nsmid"});
  return std::ranges::find(kNames, special) != kNames.end();
}

class Finder {
 public:
  Finder(const Module& module, const Function& function, const ControlFlow& flow)
      : module_(module),
        function_(function),
        flow_(flow),
        steady_(module, function, flow),
        blocks_(flow.blocks.size(), Uniformity::kAll) {}

  std::vector<Uniformity> find() {
    count_definitions();
    for (bool grows = true; grows;) {
      grows = taint();
      grows = part() || grows;
    }
    return std::move(blocks_);
  }

 private:
  [[nodiscard]] bool is_instruction(std::size_t at) const {
    return module_.statements[at].kind == StatementKind::kInstruction;
  }

  // The first operand is what it makes; an address there is where it stores.
  static bool makes_something(const Instruction& instruction) {
    return !instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::kAddress;
  }

  void count_definitions() {
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      if (is_instruction(i) && makes_something(module_.statements[i].instruction)) {
        visit_registers(module_.statements[i].instruction.operands[0],
                        [&](const Operand& written) { ++definitions_[written.name]; });
      }
    }
  }

  [[nodiscard]] bool differs(const Operand& operand) const {
    if (operand.kind == Operand::Kind::kSpecial) {
      return !is_same_for_all(operand.name);
    }
    if (operand.kind == Operand::Kind::kRegister) {
      const auto here = made_here_.find(operand.name);
      return here == made_here_.end() ? tainted_.contains(operand.name) : here->second;
    }
    return std::ranges::any_of(operand.elements,
                               [this](const Operand& element) { return differs(element); });
  }

  // All threads come from a barrier together, and read what none of them has written since.
  [[nodiscard]] bool is_steady(std::size_t load) const {
    const std::vector<std::size_t>* const barriers = steady_.barriers_before(load);
    return barriers != nullptr && std::ranges::all_of(*barriers, [&](std::size_t barrier) {
             return blocks_[flow_.block_of(barrier)] == Uniformity::kAll;
           });
  }

  // What an instruction makes may differ whatever it is made of. Memory that is read by
  // ld.global.nc stays as it is while the kernel runs (PTX ISA, "ld.global.nc").
  [[nodiscard]] bool makes_different(std::size_t at, const Effect& effect) const {
    if (effect.opcode_class == OpcodeClass::kLoad) {
      const bool is_parameter = effect.space == StateSpace::kParam && function_.is_entry;
      const bool is_constant = is_parameter || effect.space == StateSpace::kConst ||
                               module_.statements[at].instruction.has(Modifier::kNc);
      return !is_constant && !is_steady(at);
    }
    return effect.opcode_class != OpcodeClass::kArithmetic;
  }

  // Whatever the threads say at a barrier.red of the whole block, all get the same.
  static bool tells_all_alike(const Instruction& instruction, const Effect& effect,
                              Uniformity where) {
    return effect.opcode_class == OpcodeClass::kBarrier && effect.count_operand < 0 &&
           instruction.predicate.empty() && where != Uniformity::kSome;
  }

  bool taint() {
    bool grows = false;
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      const std::size_t end = std::min(flow_.blocks[block].end, function_.body_end);
      made_here_.clear();
      for (std::size_t i = flow_.blocks[block].begin; i < end; ++i) {
        if (is_instruction(i)) {
          grows = taint_by(i, blocks_[block]) || grows;
        }
      }
    }
    return grows;
  }

  bool taint_by(std::size_t at, Uniformity where) {
    const Instruction& instruction = module_.statements[at].instruction;
    if (!makes_something(instruction)) {
      return false;
    }
    const Effect effect = classify(instruction);
    bool is_different = tainted_.contains(instruction.predicate);
    if (!is_different && !tells_all_alike(instruction, effect, where)) {
      is_different = makes_different(at, effect);
      for (std::size_t i = 1; i < instruction.operands.size() && !is_different; ++i) {
        is_different = differs(instruction.operands[i]);
      }
    }
    bool grows = false;
    visit_registers(instruction.operands[0], [&](const Operand& written) {
      const bool is_of_way = where == Uniformity::kSome && definitions_[written.name] > 1;
      const bool differs_now = is_different || is_of_way;
      if (differs_now) {
        grows = tainted_.insert(written.name).second || grows;
      }
      if (instruction.predicate.empty() || differs_now) {
        made_here_[written.name] = differs_now;
      }
    });
    return grows;
  }

  // The instruction that a block ends with; null if it runs on into the next one.
  [[nodiscard]] const Instruction* branch_of(const BasicBlock& block) const {
    for (std::size_t i = std::min(block.end, function_.body_end); i > block.begin;) {
      --i;
      if (is_instruction(i)) {
        return &module_.statements[i].instruction;
      }
    }
    return nullptr;
  }

  // Nothing is done there but to leave.
  [[nodiscard]] bool only_leaves(std::uint32_t block) const {
    const BasicBlock& at = flow_.blocks[block];
    std::size_t instructions = 0;
    for (std::size_t i = at.begin; i < std::min(at.end, function_.body_end); ++i) {
      instructions += is_instruction(i) ? 1 : 0;
    }
    return at.leaves && at.successors.empty() && instructions <= 1;
  }

  bool lower(std::uint32_t block, Uniformity to) {
    if (blocks_[block] >= to) {
      return false;
    }
    blocks_[block] = to;
    return true;
  }

  // What a branch decides that threads of the CTA may take differently.
  bool part() {
    bool grows = false;
    for (std::uint32_t index = 0; index < flow_.blocks.size(); ++index) {
      const BasicBlock& block = flow_.blocks[index];
      const Instruction* const branch = branch_of(block);
      const bool has_choice =
          block.successors.size() + (block.leaves && !block.successors.empty() ? 1 : 0) > 1;
      if (branch == nullptr || !has_choice || !block.is_reachable) {
        continue;
      }
      const bool is_different = branch->predicate.empty() || tainted_.contains(branch->predicate);
      if (!is_different && blocks_[index] == Uniformity::kAll) {
        continue;
      }
      const bool leaves = block.leaves || std::ranges::any_of(block.successors, [&](auto next) {
                            return only_leaves(next);
                          });
      const Uniformity to = !is_different                                   ? blocks_[index]
                            : leaves && blocks_[index] != Uniformity::kSome ? Uniformity::kRest
                                                                            : Uniformity::kSome;
      for (const std::uint32_t next : block.successors) {
        grows = lower_way(next, block.immediate_post_dominator, to) || grows;
      }
    }
    return grows;
  }

  // From a branch's successor up to where its ways meet.
  bool lower_way(std::uint32_t block, std::uint32_t meeting, Uniformity to) {
    bool grows = false;
    for (std::size_t steps = 0; block != kNoBlock && block != meeting && steps <= blocks_.size();
         ++steps) {
      grows = lower(block, to) || grows;
      block = flow_.blocks[block].immediate_post_dominator;
    }
    return grows;
  }

  const Module& module_;
  const Function& function_;
  const ControlFlow& flow_;
  const SteadyLoads steady_;
  std::vector<Uniformity> blocks_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> definitions_;
  boost::unordered_flat_set<std::string_view> tainted_;  // by any of its definitions
  // Of registers that this basic block has made: whether their values differ. nvcc starts several
  // loop counters with copies of the first one's 0, which is something else later.
  boost::unordered_flat_map<std::string_view, bool> made_here_;
};

}  // namespace

std::vector<Uniformity> find_uniform_blocks(const Module& module, const Function& function,
                                            const ControlFlow& flow) {
  return Finder(module, function, flow).find();
}

}  // namespace barracuda::ptx
