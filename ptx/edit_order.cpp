#include "ptx/edit_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/assert.h"
#include "ptx/analysis/call_sequence.h"
#include "ptx/analysis/program.h"
#include "ptx/opcode.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

using wire::MemoryOrder;
using wire::Scope;

constexpr std::uint32_t kMemoryModelArch = 70;  // fence, and orders of accesses
constexpr std::uint32_t kScopedAtomicArch = 60;
constexpr std::uint32_t kClusterArch = 90;
constexpr std::uint32_t kAsyncCopyArch = 80;
constexpr std::uint32_t kWarpBarrierArch = 70;

// Of the modifiers for which `says` holds.
std::string_view first_text(const auto& says) {
  for (std::size_t i = 1; i < kModifierTexts.size(); ++i) {
    if (says(static_cast<Modifier>(i))) {
      return kModifierTexts[i];
    }
  }
  return {};
}

// What goes with weak accesses alone.
bool is_for_weak(Modifier modifier) {
  using enum Modifier;
  constexpr Modifier kWords[] = {kCa, kCg, kCs, kLu, kCv, kWb, kWt};
  return std::ranges::find(kWords, modifier) != std::end(kWords);
}

// The narrowest scope that the target has and that includes it.
Scope scope_on(std::uint32_t arch, Scope scope) {
  return scope == Scope::kCluster && arch < kClusterArch ? Scope::kGpu : scope;
}

std::string fence_text(std::uint32_t arch, const Fence& fence) {
  const Scope scope = scope_on(arch, fence.scope);
  if (arch >= kMemoryModelArch) {
    return "fence." + std::string(word_of(fence.order)) + "." + std::string(word_of(scope));
  }
  return scope == Scope::kGpu ? "membar.gl" : "membar." + std::string(word_of(scope));
}

bool goes_on_after(const Statement& statement) {
  const OpcodeClass kind = classify(statement.instruction).opcode_class;
  const bool leaves = kind == OpcodeClass::kBranch || kind == OpcodeClass::kReturn ||
                      kind == OpcodeClass::kExit || kind == OpcodeClass::kTrap;
  return !leaves || !statement.instruction.predicate.empty();
}

bool is_removable_fence(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kFence && !effect.is_restricted;
}

// The orders that PTX has for each kind of access.
struct AccessOrders {
  OpcodeClass kind;
  std::array<MemoryOrder, 4> orders;
};

constexpr AccessOrders kAccessOrders[] = {
    {.kind = OpcodeClass::kLoad,
     .orders = {MemoryOrder::kWeak, MemoryOrder::kVolatile, MemoryOrder::kRelaxed,
                MemoryOrder::kAcquire}},
    {.kind = OpcodeClass::kStore,
     .orders = {MemoryOrder::kWeak, MemoryOrder::kVolatile, MemoryOrder::kRelaxed,
                MemoryOrder::kRelease}},
    {.kind = OpcodeClass::kAtomic,
     .orders = {MemoryOrder::kRelaxed, MemoryOrder::kAcquire, MemoryOrder::kRelease,
                MemoryOrder::kAcqRel}},
    {.kind = OpcodeClass::kReduction,
     .orders = {MemoryOrder::kRelaxed, MemoryOrder::kRelease, MemoryOrder::kRelaxed,
                MemoryOrder::kRelease}},
};

bool has_order(OpcodeClass kind, MemoryOrder order) {
  return std::ranges::any_of(kAccessOrders, [&](const AccessOrders& row) {
    return row.kind == kind && std::ranges::find(row.orders, order) != row.orders.end();
  });
}

class OrderEditor {
 public:
  explicit OrderEditor(Module& module)
      : module_(module), index_(module), arch_(module.target_arch()) {}

  EditOutcome take(const OrderEdit& edit) {
    function_ = index_.function_of(edit.at);
    if (function_ == nullptr) {
      return {.fit = EditOutcome::Fit::kNoFunction, .reason = "the program has no such function"};
    }
    const auto at = index_.find(edit.at);
    if (!at) {
      return {.fit = EditOutcome::Fit::kNoStatement,
              .reason = "its function has fewer instructions"};
    }
    std::string reason =
        std::visit([&](const auto& change) { return change_at(*at, change); }, edit.change);
    return {.fit = reason.empty() ? EditOutcome::Fit::kApplied : EditOutcome::Fit::kNotPossible,
            .reason = std::move(reason)};
  }

  // What take() has put in and taken out.
  void finish() {
    if (insertions_.empty() && removed_.empty()) {
      return;
    }
    std::ranges::stable_sort(insertions_, {}, &Insertion::position);
    std::vector<Statement> statements;
    statements.reserve(module_.statements.size() + insertions_.size());
    auto next = insertions_.begin();
    for (std::size_t i = 0; i < module_.statements.size(); ++i) {
      for (; next != insertions_.end() && next->position == i; ++next) {
        for (Statement& statement : made_statements(next->text)) {
          statements.push_back(std::move(statement));
        }
      }
      if (!removed_.contains(i)) {
        statements.push_back(std::move(module_.statements[i]));
      }
    }
    ASSERT(next == insertions_.end());  // each stands before its function's closing brace
    module_.statements = std::move(statements);
    module_.index_functions();
  }

 private:
  struct Insertion {
    std::size_t position = 0;  // before this statement
    std::string text;
  };

  // Each says why it is not possible; empty: it was made.
  std::string change_at(std::size_t at, const InsertFence& insert) {
    return put_in(at, insert.is_before, fence_text(arch_, insert.fence) + ";");
  }

  std::string change_at(std::size_t at, const InsertSync& insert) {
    const bool is_there = insert.kind == SyncKind::kCopies ? arch_ >= kAsyncCopyArch
                          : insert.kind == SyncKind::kWarpBarrier
                              ? arch_ >= kWarpBarrierArch
                              : insert.kind == SyncKind::kBlockBarrier || arch_ >= kClusterArch;
    if (!is_there) {
      return "the program is compiled for a GPU that has no such instruction";
    }
    return put_in(at, insert.is_before, std::string(text_of(insert.kind)));
  }

  std::string put_in(std::size_t at, bool is_before, std::string text) {
    if (!is_before && !goes_on_after(module_.statements[at])) {
      return "nothing comes after that statement";
    }
    insertions_.push_back({.position = outside_of_calls(at, is_before), .text = std::move(text)});
    return {};
  }

  std::string change_at(std::size_t at, const RemoveFence& /*remove*/) {
    if (!is_removable_fence(classify(module_.statements[at].instruction))) {
      return "that statement is no fence";
    }
    removed_.insert(at);
    return {};
  }

  std::string change_at(std::size_t at, const ReplaceFence& replace) {
    Statement& statement = module_.statements[at];
    if (!is_removable_fence(classify(statement.instruction))) {
      return "that statement is no fence";
    }
    set_mnemonic(statement, fence_text(arch_, replace.fence));
    return {};
  }

  std::string change_at(std::size_t at, const ChangeScope& change) {
    Statement& statement = module_.statements[at];
    const Effect effect = classify(statement.instruction);
    if (is_removable_fence(effect)) {
      // fence.acquire and fence.release keep their kind.
      if (arch_ < kMemoryModelArch || statement.instruction.opcode == Opcode::kMembar) {
        set_mnemonic(statement, fence_text(arch_, {.order = effect.order, .scope = change.scope}));
        return {};
      }
      write_order(statement, effect.order, change.scope);
      return {};
    }
    const bool is_scoped = is_shared_access(effect) && effect.order != MemoryOrder::kWeak &&
                           effect.order != MemoryOrder::kVolatile;
    if (!is_scoped || statement.instruction.has(Modifier::kMmio)) {
      return "that statement has no scope";
    }
    return change_order(statement, effect, effect.order, change.scope);
  }

  std::string change_at(std::size_t at, const ChangeOrder& change) {
    Statement& statement = module_.statements[at];
    const Effect effect = classify(statement.instruction);
    if (!is_shared_access(effect) || statement.instruction.has(Modifier::kMmio)) {
      return "that statement is no load, store or atomic of memory that other threads see";
    }
    if (!has_order(effect.opcode_class, change.order)) {
      return "such an access cannot be " + std::string(word_of(change.order));
    }
    return change_order(statement, effect, change.order, change.scope);
  }

  std::string change_order(Statement& statement, const Effect& effect, MemoryOrder order,
                           Scope scope) {
    const bool is_atomic = effect.opcode_class == OpcodeClass::kAtomic ||
                           effect.opcode_class == OpcodeClass::kReduction;
    const bool needs_model = order != MemoryOrder::kWeak && order != MemoryOrder::kVolatile &&
                             !(is_atomic && order == MemoryOrder::kRelaxed);
    if (needs_model && arch_ < kMemoryModelArch) {
      return "it takes a program that is compiled for sm_70 or later";
    }
    if (is_atomic && arch_ < kScopedAtomicArch) {
      return "it takes a program that is compiled for sm_60 or later";
    }
    write_order(statement, order, scope);
    return {};
  }

  // Order and scope stand first; all other words stay as they are.
  void write_order(Statement& statement, MemoryOrder order, Scope scope) {
    const Instruction& instruction = statement.instruction;
    const bool is_fence = instruction.opcode == Opcode::kFence;
    const bool is_atomic =
        instruction.opcode == Opcode::kAtom || instruction.opcode == Opcode::kRed;
    const bool is_weak = order == MemoryOrder::kWeak;
    std::string mnemonic(text_of(instruction.opcode));
    // Before sm_70, atomics have a scope and no order.
    const bool has_word = !is_weak && !(is_atomic && arch_ < kMemoryModelArch);
    if (has_word) {
      mnemonic += "." + std::string(word_of(order));
    }
    if (!is_weak && order != MemoryOrder::kVolatile) {
      mnemonic += "." + std::string(word_of(scope_on(arch_, scope)));
    }
    const std::string name = name_of(instruction);
    for (std::size_t dot = name.find('.'), next = 0; dot < name.size(); dot = next) {
      next = std::min(name.find('.', dot + 1), name.size());
      const Modifier word = find_modifier(std::string_view(name).substr(dot + 1, next - dot - 1));
      const bool goes = order_of(word) || scope_of(word) || word == Modifier::kNc ||
                        (!is_fence && !is_weak && is_for_weak(word));
      if (!goes) {
        mnemonic += name.substr(dot, next - dot);
      }
    }
    set_mnemonic(statement, mnemonic);
  }

  // The text with another opcode and other modifiers; predicate and operands stay.
  void set_mnemonic(Statement& statement, const std::string& mnemonic) {
    const std::string_view text = statement.text, old = statement.instruction.mnemonic;
    const auto begin = static_cast<std::size_t>(old.data() - text.data());
    ASSERT(begin + old.size() <= text.size());
    const std::string_view made = module_.own(std::string(text.substr(0, begin)) + mnemonic +
                                              std::string(text.substr(begin + old.size())));
    statement.text = made;
    statement.instruction.set_mnemonic(made.substr(begin, mnemonic.size()));
  }

  // Where an insertion next to a statement may stand.
  std::size_t outside_of_calls(std::size_t at, bool is_before) {
    const std::size_t position = is_before ? at : at + 1;
    for (const CallSequence& sequence : calls_of_function()) {
      if (sequence.begin < position && position < sequence.end) {
        return is_before ? sequence.begin : sequence.end;
      }
    }
    return position;
  }

  const std::vector<CallSequence>& calls_of_function() {
    const auto [known, is_new] = calls_.try_emplace(function_);
    for (std::size_t i = function_->body_begin; is_new && i < function_->body_end; ++i) {
      const Statement& statement = module_.statements[i];
      if (statement.kind == StatementKind::kInstruction &&
          statement.instruction.opcode == Opcode::kCall) {
        known->second.push_back(find_call_sequence(module_, *function_, i));
      }
    }
    return known->second;
  }

  std::vector<Statement> made_statements(const std::string& text) {
    auto made = parse_statements(module_, text);
    ASSERT(made && !made->empty());
    for (Statement& statement : *made) {
      statement.position = {};  // of no line of the program
    }
    return std::move(*made);
  }

  Module& module_;
  StatementIndex index_;
  const std::uint32_t arch_;
  const Function* function_ = nullptr;                          // of the edit that is being made
  std::map<const Function*, std::vector<CallSequence>> calls_;  // of functions that were asked for
  std::vector<Insertion> insertions_;
  std::set<std::size_t> removed_;
};

}  // namespace

std::string_view text_of(SyncKind kind) {
  switch (kind) {
    case SyncKind::kWarpBarrier:
      return "bar.warp.sync -1;";
    case SyncKind::kBlockBarrier:
      return "bar.sync 0;";
    case SyncKind::kClusterBarrier:
      return "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    case SyncKind::kAsyncProxy:
      return "fence.proxy.async;";
    case SyncKind::kCopies:
      return "cp.async.wait_all;";
    case SyncKind::kEarlierGrid:
      return "griddepcontrol.wait;";
  }
  return "";
}

std::string_view word_of(Scope scope) {
  return first_text([scope](Modifier modifier) { return scope_of(modifier) == scope; });
}

std::string_view word_of(MemoryOrder order) {
  return first_text([order](Modifier modifier) { return order_of(modifier) == order; });
}

std::vector<EditOutcome> apply_edits(Module& module, std::span<const OrderEdit> edits) {
  OrderEditor editor(module);
  std::vector<EditOutcome> outcomes;
  outcomes.reserve(edits.size());
  for (const OrderEdit& edit : edits) {
    outcomes.push_back(editor.take(edit));
  }
  editor.finish();
  return outcomes;
}

}  // namespace barracuda::ptx
