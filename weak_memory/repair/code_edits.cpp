#include "weak_memory/repair/code_edits.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace barracuda::weak_memory {
namespace {

using ptx::CodePoint;
using ptx::OpcodeClass;
using ptx::StatementName;
using wire::MemoryOrder;

bool is_access(const CodePoint& point) {
  const OpcodeClass kind = point.effect.opcode_class;
  return kind == OpcodeClass::kLoad || kind == OpcodeClass::kStore ||
         kind == OpcodeClass::kAtomic || kind == OpcodeClass::kReduction;
}

std::string word_before_dot(const std::string& instruction) {
  return instruction.substr(0, instruction.find('.'));
}

std::string scoped(const CodePoint& point, wire::Scope scope) {
  std::string text = point.instruction;
  const std::string word = "." + std::string(ptx::word_of(point.effect.scope));
  const std::size_t at = text.find(word);
  return at == std::string::npos
             ? fmt::format("{} of scope {}", text, ptx::word_of(scope))
             : text.replace(at, word.size(), "." + std::string(ptx::word_of(scope)));
}

std::string sync_name(ptx::SyncKind kind) {
  const std::string_view text = ptx::text_of(kind);
  return std::string(text.substr(0, text.find(';')));
}

}  // namespace

bool is_plain(const CodePoint& point) {
  return point.effect.order == MemoryOrder::kWeak;
}

const ptx::CodeView* ProgramCode::module_of(const StatementName& name) const {
  const auto found = std::ranges::find_if(
      modules_, [&](const ptx::CodeView& module) { return module.find(name).has_value(); });
  return found == modules_.end() ? nullptr : &*found;
}

std::optional<CodePoint> ProgramCode::find(const std::string& name) const {
  const auto at = ptx::parse_statement_name(name);
  const ptx::CodeView* const module = at ? module_of(*at) : nullptr;
  return module == nullptr ? std::nullopt : module->find(*at);
}

Edit at_whole_line(const ProgramCode& code, Edit edit) {
  const std::vector<ptx::OrderEdit> own = edit.changes;
  for (const ptx::OrderEdit& change : own) {
    const ptx::CodeView* const module = code.module_of(change.at);
    for (StatementName& copy :
         module == nullptr ? std::vector<StatementName>() : module->copies_of(change.at)) {
      ptx::OrderEdit made{.at = std::move(copy), .change = change.change};
      if (std::ranges::find(edit.changes, made) == edit.changes.end()) {
        edit.changes.push_back(std::move(made));
      }
    }
  }
  return edit;
}

Edit CodeEdits::fence_before(const CodePoint& point) const {
  Edit edit = at_copies(point, ptx::InsertFence{.fence = fence(), .is_before = true});
  edit.is_line_before = true;
  edit.after = fence_name();
  return edit;
}

std::optional<Edit> CodeEdits::fence_behind(const StatementName& read) const {
  const auto gap = code_.module_of(read)->gap_behind_read(read);
  if (!gap) {
    return std::nullopt;
  }
  return at_gap(*gap, ptx::InsertFence{.fence = fence(), .is_before = gap->is_before},
                fence_name());
}

Edit CodeEdits::with_order(const CodePoint& point, MemoryOrder order) const {
  Edit edit = at_copies(point, ptx::ChangeOrder{.order = order, .scope = scope_});
  edit.before = point.instruction;
  edit.after = order == MemoryOrder::kWeak
                   ? "ld.global"
                   : fmt::format("{}.{}.{}", word_before_dot(point.instruction),
                                 ptx::word_of(order), ptx::word_of(scope_));
  return edit;
}

Edit CodeEdits::with_stronger_order(const CodePoint& point, MemoryOrder added) const {
  const bool is_both = point.effect.opcode_class == OpcodeClass::kAtomic &&
                       (point.effect.order == MemoryOrder::kAcquire ||
                        point.effect.order == MemoryOrder::kRelease) &&
                       point.effect.order != added;
  return with_order(point, is_both ? MemoryOrder::kAcqRel : added);
}

Edit CodeEdits::with_scope(const CodePoint& point) const {
  Edit edit = at_copies(point, ptx::ChangeScope{.scope = scope_});
  edit.before = point.instruction;
  edit.after = scoped(point, scope_);
  return edit;
}

Edit CodeEdits::with_sync(const CodePoint& point, ptx::SyncKind kind, bool is_before) const {
  Edit edit = at_copies(point, ptx::InsertSync{.kind = kind, .is_before = is_before});
  edit.is_line_before = is_before;
  edit.after = sync_name(kind);
  return edit;
}

Edit CodeEdits::with_sync(const ptx::Gap& gap, ptx::SyncKind kind) const {
  return at_gap(gap, ptx::InsertSync{.kind = kind, .is_before = gap.is_before}, sync_name(kind));
}

Edit CodeEdits::at_copies(const CodePoint& point, const ptx::OrderChange& change) const {
  Edit edit{.changes = {},
            .lines = point.lines,
            .within = point.within,
            .before = "",
            .after = "",
            .loops = point.loops};
  for (StatementName& copy : code_.module_of(point.name)->copies_of(point.name)) {
    edit.changes.push_back({.at = std::move(copy), .change = change});
  }
  return edit;
}

Edit CodeEdits::at_gap(const ptx::Gap& gap, const ptx::OrderChange& change,
                       std::string after) const {
  Edit edit{.changes = {},
            .lines = gap.at_line,
            .within = gap.within,
            .is_line_before = gap.is_line_before,
            .is_behind_loop = gap.is_behind_loop,
            .before = "",
            .after = std::move(after),
            .loops = gap.loops};
  // Behind a loop, and at what is no access, there are no copies of the statement: what looks like
  // one may be anything.
  const ptx::CodeView& module = *code_.module_of(gap.at);
  const auto point = module.find(gap.at);
  const bool has_copies = !gap.is_behind_loop && point && is_access(*point);
  const std::vector<StatementName> copies =
      has_copies ? module.copies_of(gap.at) : std::vector<StatementName>{gap.at};
  for (const StatementName& copy : copies) {
    edit.changes.push_back({.at = copy, .change = change});
  }
  return edit;
}

ptx::Fence CodeEdits::fence() const {
  return {.order = MemoryOrder::kAcqRel, .scope = scope_};
}

std::string CodeEdits::fence_name() const {
  return fmt::format("fence.acq_rel.{}", ptx::word_of(scope_));
}

}  // namespace barracuda::weak_memory
