// The code of a program, and the single edits of it that a repair is put together from.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_logger/site_info.h"
#include "ptx/code_view.h"
#include "weak_memory/repair/edit.h"

namespace barracuda::weak_memory {

bool is_plain(const ptx::CodePoint& point);  // a weak access

// The code of all modules that a program loads.
class ProgramCode {
 public:
  explicit ProgramCode(std::vector<ptx::CodeView> modules) : modules_(std::move(modules)) {}

  // Null: no module has that instruction; of several that do, the first.
  [[nodiscard]] const ptx::CodeView* module_of(const ptx::StatementName& name) const;
  // Nothing: as above, or it is no name of a statement.
  [[nodiscard]] std::optional<ptx::CodePoint> find(const std::string& name) const;

 private:
  std::vector<ptx::CodeView> modules_;
};

// The edit at every statement that looks like one of its own and is of the same line: what is put
// in next to a line of the source stands in every copy of a loop's body. Whether they are copies,
// runs show.
Edit at_whole_line(const ProgramCode& code, Edit edit);

// Each edit is made at every copy of its instruction. What is put in or changed is of one scope.
class CodeEdits {
 public:
  // The code must outlive it.
  CodeEdits(const ProgramCode& code, wire::Scope scope) : code_(code), scope_(scope) {}

  [[nodiscard]] Edit fence_before(const ptx::CodePoint& point) const;
  // Nothing: no fence can stand there.
  [[nodiscard]] std::optional<Edit> fence_behind(const ptx::StatementName& read) const;
  // The access gets that order.
  [[nodiscard]] Edit with_order(const ptx::CodePoint& point, wire::MemoryOrder order) const;
  // Acquire or release are added to what order the access has.
  [[nodiscard]] Edit with_stronger_order(const ptx::CodePoint& point,
                                         wire::MemoryOrder order) const;
  // The access or fence gets the scope.
  [[nodiscard]] Edit with_scope(const ptx::CodePoint& point) const;
  // A barrier, or a wait for something else.
  [[nodiscard]] Edit with_sync(const ptx::CodePoint& point, ptx::SyncKind kind,
                               bool is_before) const;
  [[nodiscard]] Edit with_sync(const ptx::Gap& gap, ptx::SyncKind kind) const;

 private:
  [[nodiscard]] Edit at_copies(const ptx::CodePoint& point, const ptx::OrderChange& change) const;
  [[nodiscard]] Edit at_gap(const ptx::Gap& gap, const ptx::OrderChange& change,
                            std::string after) const;
  [[nodiscard]] ptx::Fence fence() const;
  [[nodiscard]] std::string fence_name() const;

  const ProgramCode& code_;
  wire::Scope scope_;
};

}  // namespace barracuda::weak_memory
