#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "device_logger/shared_states.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/use_condition.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/passes/passes.h"

// An unrolled product of matrices has thousands of loads from shared memory, and NVIDIA's compiler
// needs some 25 milliseconds for the hooks of each: minutes for a kernel. Loads of which no other
// access, branch or barrier stands between are ordered as one before and behind what other threads
// do. So their records may all be made where the last of them stands.
namespace barracuda::ptx::load_batches {
namespace {

// Below that one hook each is as good.
constexpr std::size_t kFewestLoads = 4;
// Loads that ask the states each time are put together where a kernel has more sites than this:
// elsewhere compiling them takes little, and the way through local memory is not for nothing.
constexpr std::size_t kManySites = 256;

bool may_be_batched(const PlannedSite& site, const Statement& statement, bool has_many) {
  return site.hook == HookKind::kAccess && site.counts_intervals && only_loads(site.effect) &&
         site.effect.space != StateSpace::kGlobal && !site.shortcut && site.logged_at == 0 &&
         site.logged_behind == 0 && site.use_condition.empty() && site.sub_word.word == 0 &&
         !site.keeps_copies && statement.instruction.predicate.empty() &&
         (has_many || site.in_read_only_interval) &&
         wire::state_use(site_word(site)) == wire::StateUse::kRead;
}

// Between two loads of a batch. What a warp does together orders none of its memory.
bool may_stand_between(const Statement& statement, const Effect& effect) {
  const bool is_together = effect.opcode_class == OpcodeClass::kWarpCollective ||
                           effect.opcode_class == OpcodeClass::kMatrixAccess;
  return may_be_passed(statement, effect) || (is_together && !effect.not_covered);
}

class FunctionBatches {
 public:
  FunctionBatches(const Program& program, std::span<PlannedSite> sites)
      : program_(program), has_many_(sites.size() > kManySites) {}

  void find(std::span<PlannedSite> sites) {
    auto site = sites.begin();
    while (site != sites.end()) {
      const std::size_t i = site->statement;
      const auto behind = std::find_if(
          site, sites.end(), [i](const PlannedSite& each) { return each.statement != i; });
      pass_until(i);
      add({site, behind});
      site = behind;
    }
    close();
  }

 private:
  // The statements between the last site and this one.
  void pass_until(std::size_t statement) {
    for (; at_ < statement && !loads_.empty(); ++at_) {
      const Statement& passed = program_.module.statements[at_];
      if (!may_stand_between(passed, program_.effects[at_]) || changes_address(passed)) {
        close();
      }
    }
    at_ = statement;
  }

  // Those of one statement.
  void add(std::span<PlannedSite> sites) {
    const Statement& statement = program_.module.statements[sites.front().statement];
    if (std::ranges::all_of(sites,
                            [](const PlannedSite& site) { return site.hook == HookKind::kNone; })) {
      return;  // it stands as what may be passed
    }
    if (!std::ranges::all_of(sites, [&](const PlannedSite& site) {
          return may_be_batched(site, statement, has_many_);
        })) {
      close();
      return;
    }
    if (!loads_.empty() && (loads_.size() + sites.size() > kMostInBatch ||
                            !are_alike(*loads_.front(), sites.front()))) {
      close();
    }
    for (PlannedSite& site : sites) {
      loads_.push_back(&site);
    }
    for (std::size_t n = 1; n < statement.instruction.operands.size(); ++n) {
      visit_registers(statement.instruction.operands[n],
                      [&](const Operand& read) { read_.insert(read.name); });
    }
  }

  static bool are_alike(const PlannedSite& one, const PlannedSite& other) {
    return one.in_read_only_interval == other.in_read_only_interval &&
           one.effect.space == other.effect.space &&
           one.effect.shared_cluster == other.effect.shared_cluster;
  }

  [[nodiscard]] bool changes_address(const Statement& statement) const {
    bool changes = false;
    if (statement.kind == StatementKind::kInstruction && !statement.instruction.operands.empty()) {
      visit_registers(statement.instruction.operands[0], [&](const Operand& written) {
        changes = changes || read_.contains(written.name);
      });
    }
    return changes;
  }

  void close() {
    if (loads_.size() >= kFewestLoads) {
      for (PlannedSite* const load : loads_) {
        load->in_batch = InBatch::kBeforeLast;
      }
      loads_.back()->in_batch = InBatch::kLast;
    }
    loads_.clear();
    read_.clear();
  }

  const Program& program_;
  const bool has_many_;
  std::size_t at_ = 0;                                // the statement of the last site
  std::vector<PlannedSite*> loads_;                   // of the batch so far
  boost::unordered_flat_set<std::string_view> read_;  // by their addresses
};

}  // namespace

Expected<void> run(Program& program) {
  return visit_functions(program, [&](std::span<PlannedSite> sites) -> Expected<void> {
    FunctionBatches(program, sites).find(sites);
    return {};
  });
}

}  // namespace barracuda::ptx::load_batches
