#include "ptx/analysis/register_sizes.h"

namespace barracuda::ptx {

void RegisterSizes::enter(const Function& function) {
  depth_ = 1;
  scopes_.resize(1);
  scopes_[0].names.clear();
  scopes_[0].ranges.clear();
  for (const auto* list : {&function.parameters, &function.returns}) {
    for (const Variable& variable : *list) {
      declare(variable);
    }
  }
}

void RegisterSizes::read(const Statement& statement) {
  if (statement.kind == StatementKind::kBlockOpen) {
    if (++depth_ > scopes_.size()) {
      scopes_.emplace_back();
    }
    scopes_[depth_ - 1].names.clear();
    scopes_[depth_ - 1].ranges.clear();
  } else if (statement.kind == StatementKind::kBlockClose && depth_ > 1) {
    --depth_;
  } else if (statement.kind == StatementKind::kVariable) {
    for (const Variable& variable : statement.variables) {
      declare(variable);
    }
  }
}

void RegisterSizes::declare(const Variable& variable) {
  if (variable.space != StateSpace::kReg) {
    return;
  }
  Scope& scope = scopes_[depth_ - 1];
  (variable.range > 0 ? scope.ranges : scope.names)
      .insert_or_assign(variable.name, size_of(variable.type));
}

const std::uint32_t* RegisterSizes::find(std::string_view name) const {
  const std::size_t stem = name.find_last_not_of("0123456789");
  const std::string_view prefix =
      stem == std::string_view::npos ? std::string_view{} : name.substr(0, stem + 1);
  for (std::size_t i = depth_; i > 0; --i) {
    const Scope& scope = scopes_[i - 1];
    if (const auto found = scope.names.find(name); found != scope.names.end()) {
      return &found->second;
    }
    if (const auto found = scope.ranges.find(prefix); found != scope.ranges.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

std::uint32_t RegisterSizes::bytes_of(const Operand& operand) const {
  const std::uint32_t* bytes =
      operand.kind == Operand::Kind::kRegister && !operand.negated ? find(operand.name) : nullptr;
  return bytes == nullptr ? 0 : *bytes;
}

bool RegisterSizes::is_declared(std::string_view name) const {
  return find(name) != nullptr;
}

}  // namespace barracuda::ptx
