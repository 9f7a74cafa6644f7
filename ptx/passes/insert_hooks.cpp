#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ptx/analysis/call_sequence.h"
#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/hooks/atomic_result.h"
#include "ptx/hooks/copy_text.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/hooks/interval_text.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::insert_hooks {
namespace {

class FunctionWriter {
 public:
  FunctionWriter(Program& program, HookWriter& hooks, RegisterSizes& registers,
                 std::vector<Insertion>& insertions)
      : program_(program), hooks_(hooks), registers_(registers), insertions_(insertions) {}

  void write(const Function& function, const PlannedSite* site, const PlannedSite* end) {
    function_ = &function;
    insert(function.body_begin + 1,
           HookWriter::declare_members({site, static_cast<std::size_t>(end - site)}));
    if (std::any_of(site, end, [](const PlannedSite& each) { return each.counts_intervals; })) {
      insert(function.body_begin + 1, declare_interval(site->counts_warps, program_.called_hooks));
    }
    if (std::any_of(site, end, [](const PlannedSite& each) { return each.keeps_copies; })) {
      insert(function.body_begin + 1, declare_groups());
    }
    if (std::any_of(site, end,
                    [](const PlannedSite& each) { return each.in_batch != InBatch::kNone; })) {
      insert(function.body_begin + 1, declare_batch());
    }
    keep_low_bits({site, static_cast<std::size_t>(end - site)});
    registers_.enter(function);
    for (std::size_t i = function.body_begin + 1; i <= function.body_end; ++i) {
      Statement& statement = program_.module.statements[i];
      registers_.read(statement);
      for (; site != end && site->statement == i; ++site) {
        write_site(*site, statement);
      }
    }
  }

 private:
  // Of addresses of parts of words.
  void keep_low_bits(std::span<const PlannedSite> sites) {
    std::vector<std::size_t> kept;
    for (const PlannedSite& site : sites) {
      const SubWord& part = site.sub_word;
      if (part.word != 0 && std::ranges::find(kept, part.aligned_at) == kept.end()) {
        kept.push_back(part.aligned_at);
        insert(function_->body_begin + 1, declare_low_bits(part));
        insert(part.aligned_at, write_low_bits(part, program_.module.statements[part.aligned_at]));
      }
    }
  }

  void write_site(const PlannedSite& site, Statement& statement) {
    if (site.in_batch != InBatch::kNone) {
      batch_.push_back(&site);
      if (site.in_batch == InBatch::kLast) {
        insert(site.statement, hooks_.write_batch(batch_));
        batch_.clear();
      }
      return;
    }
    HookText text = hooks_.write(site, statement);
    const std::size_t i = site.statement;
    if (site.looks_first) {
      const HookText look =
          look_first(site, statement.instruction, static_cast<std::uint32_t>(site.statement));
      text.before.insert(0, look.before);
      text.after += look.after;
    }
    if (site.hook == HookKind::kCall) {
      insert(find_sequence(i).begin, std::move(text.before));
    } else if (site.hook == HookKind::kHeap) {
      const CallSequence sequence = find_sequence(i);
      insert(sequence.begin, std::move(text.before));
      insert(sequence.end, std::move(text.after));
    } else if (site.hook == HookKind::kReturn) {
      insert(find_sequence(i).end, std::move(text.before));
    } else if (site.logged_behind != 0) {
      insert(site.hook == HookKind::kAcquire ? i : site.logged_behind + 1, std::move(text.before));
      insert(site.logged_behind + 1, std::move(text.after));
    } else {
      insert(std::max(i, site.logged_at), std::move(text.before));
      insert(i + 1, std::move(text.after));
    }
    if (!text.replacement.empty()) {
      statement.text = text.replacement;
    }
  }

  void insert(std::size_t position, std::string text) {
    if (!text.empty()) {
      text.pop_back();  // the printer ends every statement's line
      insertions_.push_back({position, std::move(text)});
    }
  }

  [[nodiscard]] CallSequence find_sequence(std::size_t call) const {
    return find_call_sequence(program_.module, *function_, call);
  }

  Program& program_;
  HookWriter& hooks_;
  RegisterSizes& registers_;
  std::vector<Insertion>& insertions_;
  const Function* function_ = nullptr;
  std::vector<const PlannedSite*> batch_;  // up to here
};

}  // namespace

Expected<void> run(Program& program) {
  std::vector<Insertion> insertions;
  RegisterSizes registers;
  HookWriter hooks(program, registers);
  FunctionWriter writer(program, hooks, registers, insertions);
  const PlannedSite* site = program.sites.data();
  const PlannedSite* const end = site + program.sites.size();
  while (site != end) {
    const PlannedSite* const first = site;
    while (site != end && site->function == first->function) {
      ++site;
    }
    writer.write(program.function(first->function), first, site);
  }
  program.flows = {};
  apply_insertions(program.module, std::move(insertions));
  return {};
}

}  // namespace barracuda::ptx::insert_hooks
