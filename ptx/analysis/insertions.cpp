#include "ptx/analysis/insertions.h"

#include <algorithm>
#include <utility>

namespace barracuda::ptx {

void apply_insertions(Module& module, std::vector<Insertion> insertions) {
  std::ranges::stable_sort(insertions, {}, &Insertion::position);
  std::vector<Statement> statements;
  statements.reserve(module.statements.size() + insertions.size());
  auto next = insertions.begin();
  for (std::size_t i = 0; i < module.statements.size(); ++i) {
    for (; next != insertions.end() && next->position == i; ++next) {
      Statement& inserted = statements.emplace_back();
      inserted.kind = StatementKind::kOther;
      inserted.text = module.own(std::move(next->text));
    }
    statements.push_back(std::move(module.statements[i]));
  }
  module.statements = std::move(statements);
  module.index_functions();
}

}  // namespace barracuda::ptx
