#include "ptx/analysis/label_scopes.h"

#include "base/assert.h"

namespace barracuda::ptx {

LabelScopes::LabelScopes(const Module& module, const Function& function)
    : first_(function.body_begin), parents_{0} {
  scope_of_.reserve(function.body_end - first_ + 1);
  std::uint32_t scope = 0;
  for (std::size_t i = first_; i <= function.body_end; ++i) {
    const Statement& statement = module.statements[i];
    if (statement.kind == StatementKind::kBlockOpen && i != first_) {
      parents_.push_back(scope);
      scope = static_cast<std::uint32_t>(parents_.size()) - 1;
    }
    scope_of_.push_back(scope);
    if (statement.kind == StatementKind::kBlockClose) {
      scope = parents_[scope];
    } else if (statement.kind == StatementKind::kLabel ||
               statement.kind == StatementKind::kBranchTargets) {
      labels_.try_emplace(Key(scope, statement.label), i);
    }
  }
  ASSERT(scope_of_.back() == 0);  // at the end of the body every block in it is closed
}

std::size_t LabelScopes::find(std::size_t statement, std::string_view label) const {
  ASSERT(statement >= first_ && statement - first_ < scope_of_.size());
  std::uint32_t scope = scope_of_[statement - first_];
  while (true) {
    const auto found = labels_.find(Key(scope, label));
    if (found != labels_.end()) {
      return found->second;
    }
    if (scope == 0) {
      return kNowhere;
    }
    scope = parents_[scope];
  }
}

}  // namespace barracuda::ptx
