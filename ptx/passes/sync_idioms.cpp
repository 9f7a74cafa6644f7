#include "ptx/passes/sync_idioms.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/control_flow.h"
#include "ptx/passes/constants.h"
#include "ptx/passes/program.h"

namespace barracuda::ptx::sync_idioms {
namespace {

bool is_plain(const wire::SiteInfo& info) {
  return info.order == wire::MemoryOrder::kWeak || info.order == wire::MemoryOrder::kVolatile;
}

// The idioms of one function. Sites are those of the function.
class Finder {
 public:
  Finder(Program& program, const ControlFlow& flow) : program_(program), flow_(flow) {}

  void add(PlannedSite& site) { sites_.emplace(site.statement, &site); }

  void find_flag_stores() {
    for (const BasicBlock& block : flow_.blocks) {
      bool is_fenced = false;
      auto scope = wire::Scope::kCta;
      for (std::size_t i = block.begin; i < block.end; ++i) {
        if (const auto fence = fence_at(i)) {
          is_fenced = true;
          scope = *fence;
          continue;
        }
        if (is_shared(i) && is_fenced) {
          mark_flag_store(i, scope);
        }
        is_fenced = is_fenced && !is_shared(i) && !is_call(i);
      }
    }
  }

  void find_polls() {
    for (const BasicBlock& block : flow_.blocks) {
      // The last shared access of the block whose value its branch depends on.
      for (std::size_t i = block.end; i > block.begin;) {
        --i;
        if (is_call(i) || fence_at(i)) {
          break;
        }
        if (is_shared(i)) {
          mark_poll(i, block);
          break;
        }
      }
    }
  }

 private:
  [[nodiscard]] const Statement& statement(std::size_t i) const {
    return program_.module.statements[i];
  }

  [[nodiscard]] bool is_call(std::size_t i) const {
    return program_.effects[i].opcode_class == OpcodeClass::kCall;
  }

  // An access that may be to memory of other threads, logged or not.
  [[nodiscard]] bool is_shared(std::size_t i) const {
    return may_touch_shared(program_.effects[i]);
  }

  [[nodiscard]] std::optional<wire::Scope> fence_at(std::size_t i) const {
    return ptx::fence_at(program_, i);
  }

  void mark_flag_store(std::size_t i, wire::Scope fence) {
    const auto found = sites_.find(i);
    if (found == sites_.end()) {
      return;
    }
    PlannedSite& site = *found->second;
    if (site.effect.opcode_class == OpcodeClass::kStore && site.info.element_count == 1 &&
        is_plain(site.info)) {
      site.info.flag_store = true;
      site.info.idiom_scope = fence;
      site.info.numbered = true;
      site.hook = HookKind::kRelease;
    }
  }

  void mark_poll(std::size_t i, const BasicBlock& block) {
    const auto found = sites_.find(i);
    if (found == sites_.end() || !controls_branch(i, block)) {
      return;
    }
    PlannedSite& site = *found->second;
    const bool reads = site.effect.opcode_class == OpcodeClass::kLoad ||
                       site.effect.opcode_class == OpcodeClass::kAtomic;
    const bool may_poll =
        reads && site.info.element_count == 1 && site.info.proxy == wire::Proxy::kGeneric;
    const auto scope = may_poll ? fence_ahead(block) : std::nullopt;
    if (!scope) {
      return;
    }
    site.info.poll = true;
    site.info.idiom_scope = *scope;
    site.info.numbered = true;
    site.hook =
        site.effect.opcode_class == OpcodeClass::kLoad ? HookKind::kAcquire : HookKind::kAtomic;
  }

  // Whether the value read at `load` reaches the predicate of the branch at the block's end.
  [[nodiscard]] bool controls_branch(std::size_t load, const BasicBlock& block) const {
    boost::unordered_flat_set<std::string_view> depends;
    const auto mark = [&](const Operand& name) { depends.insert(name.name); };
    if (statement(load).instruction.operands.empty()) {
      return false;
    }
    visit_registers(statement(load).instruction.operands[0], mark);
    for (std::size_t i = load + 1; i < block.end; ++i) {
      if (statement(i).kind != StatementKind::kInstruction) {
        continue;
      }
      const Instruction& instruction = statement(i).instruction;
      if (program_.effects[i].opcode_class == OpcodeClass::kBranch) {
        return depends.contains(instruction.predicate);
      }
      bool from_value = false;
      for (std::size_t operand = 1; operand < instruction.operands.size(); ++operand) {
        visit_registers(instruction.operands[operand], [&](const Operand& name) {
          from_value = from_value || depends.contains(name.name);
        });
      }
      if (instruction.operands.empty()) {
        continue;
      }
      visit_registers(instruction.operands[0], [&](const Operand& name) {
        if (from_value) {
          depends.insert(name.name);
        } else if (instruction.predicate.empty()) {
          depends.erase(name.name);
        }
      });
    }
    return false;
  }

  // The scope of a fence that some path from the block's end meets before any shared access or
  // call.
  [[nodiscard]] std::optional<wire::Scope> fence_ahead(const BasicBlock& block) const {
    std::vector<bool> seen(flow_.blocks.size());
    std::vector<std::uint32_t> waiting = block.successors;
    std::optional<wire::Scope> widest;
    while (!waiting.empty()) {
      const std::uint32_t next = waiting.back();
      waiting.pop_back();
      if (seen[next]) {
        continue;
      }
      seen[next] = true;
      const BasicBlock& ahead = flow_.blocks[next];
      bool stopped = false;
      for (std::size_t i = ahead.begin; i < ahead.end && !stopped; ++i) {
        const auto scope = fence_at(i);
        if (scope) {
          widest = std::max(widest.value_or(wire::Scope::kCta), *scope);
        }
        stopped = scope || is_shared(i) || is_call(i);
      }
      if (!stopped) {
        waiting.insert(waiting.end(), ahead.successors.begin(), ahead.successors.end());
      }
    }
    return widest;
  }

  Program& program_;
  const ControlFlow& flow_;
  boost::unordered_flat_map<std::size_t, PlannedSite*> sites_;
};

bool may_have_idioms(const FunctionFacts& facts, const Program& program) {
  return facts.synchronises || std::ranges::any_of(facts.callees, [&](std::uint32_t callee) {
           return program.functions[callee].fence_wrapper.has_value();
         });
}

}  // namespace

Expected<void> run(Program& program) {
  for (std::size_t first = 0; first < program.sites.size();) {
    const std::uint32_t index = program.sites[first].function;
    std::size_t end = first;
    while (end < program.sites.size() && program.sites[end].function == index) {
      ++end;
    }
    if (may_have_idioms(program.functions[index], program)) {
      TRY(const ControlFlow flow, build_control_flow(program.module, program.function(index)));
      Finder finder(program, flow);
      for (std::size_t i = first; i < end; ++i) {
        finder.add(program.sites[i]);
      }
      finder.find_flag_stores();
      finder.find_polls();
    }
    first = end;
  }
  return {};
}

}  // namespace barracuda::ptx::sync_idioms
