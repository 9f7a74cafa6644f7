#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/analysis/program.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::branches {
namespace {

class FunctionBranches {
 public:
  FunctionBranches(const Program& program, std::uint32_t index, const ControlFlow& flow)
      : program_(program), index_(index), flow_(flow) {}

  std::vector<PlannedSite> find() {
    for (const BasicBlock& block : flow_.blocks) {
      if (block.is_reachable && block.end > block.begin) {
        read_end(block);
      }
    }
    return std::move(sites_);
  }

 private:
  // A branch is the last instruction of its block.
  void read_end(const BasicBlock& block) {
    std::size_t last = block.end;
    while (last > block.begin &&
           program_.module.statements[last - 1].kind != StatementKind::kInstruction) {
      --last;
    }
    if (last == block.begin) {
      return;
    }
    --last;
    const Instruction& instruction = program_.module.statements[last].instruction;
    const bool is_switch = instruction.opcode == Opcode::kBrx;
    if (program_.effects[last].opcode_class != OpcodeClass::kBranch ||
        instruction.has(Modifier::kUni) || (!is_switch && instruction.predicate.empty()) ||
        block.successors.size() < 2) {
      return;
    }
    const std::uint32_t meeting = block.immediate_post_dominator;
    PlannedSite site{.statement = last,
                     .function = index_,
                     .hook = is_switch ? HookKind::kSwitch : HookKind::kBranch};
    site.effect = program_.effects[last];
    site.info.operation = is_switch ? wire::Operation::kSwitch : wire::Operation::kBranch;
    site.info.constant = meeting == kNoBlock ? wire::kNoMeeting : flow_.blocks[meeting].begin;
    sites_.push_back(site);
    if (meeting != kNoBlock && met_.insert(meeting).second) {
      add_meeting(flow_.blocks[meeting]);
    }
  }

  // Behind the labels of its block.
  void add_meeting(const BasicBlock& block) {
    std::size_t place = block.begin;
    while (place < block.end &&
           (program_.module.statements[place].kind == StatementKind::kLabel ||
            program_.module.statements[place].kind == StatementKind::kLocation)) {
      ++place;
    }
    PlannedSite site{.statement = place, .function = index_, .hook = HookKind::kMeet};
    site.info.operation = wire::Operation::kMeet;
    site.info.constant = block.begin;
    sites_.push_back(site);
  }

  const Program& program_;
  std::uint32_t index_;
  const ControlFlow& flow_;
  std::set<std::uint32_t> met_;
  std::vector<PlannedSite> sites_;
};

// Lanes meet before they do anything else, and part last.
int rank_of(const PlannedSite& site) {
  return site.hook == HookKind::kMeet                                       ? 0
         : site.hook == HookKind::kBranch || site.hook == HookKind::kSwitch ? 2
                                                                            : 1;
}

bool may_log(const FunctionFacts& facts) {
  return facts.is_instrumented && facts.may_log;
}

}  // namespace

Expected<void> run(Program& program) {
  if (!program.options.for_paper) {
    return {};
  }
  for (PlannedSite& site : program.sites) {
    site.in_lockstep = site.hook == HookKind::kCall || site.hook == HookKind::kReturn;
  }
  std::vector<PlannedSite> added;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.function(i).has_body && may_log(program.functions[i])) {
      TRY(const ControlFlow* const flow, program.flow_of(i));
      const auto found = FunctionBranches(program, i, *flow).find();
      added.insert(added.end(), found.begin(), found.end());
    }
  }
  program.sites.insert(program.sites.end(), added.begin(), added.end());
  std::ranges::stable_sort(program.sites, {}, [](const PlannedSite& site) {
    return std::tuple(site.function, site.statement, rank_of(site));
  });
  return {};
}

}  // namespace barracuda::ptx::branches
