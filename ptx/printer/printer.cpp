#include <cstddef>
#include <string>
#include <string_view>

#include "ptx/module.h"
#include "ptx/print.h"
#include "ptx/printer/token_reader.h"

namespace barracuda::ptx {

namespace {

bool stands_left(StatementKind kind) {
  return kind == StatementKind::kLabel || kind == StatementKind::kBlockOpen ||
         kind == StatementKind::kBlockClose;
}

bool same_tokens(std::string_view left, std::string_view right) {
  if (left == right) {
    return true;
  }
  TokenReader left_tokens(left), right_tokens(right);
  while (true) {
    const std::string_view a = left_tokens.next(), b = right_tokens.next();
    if (a != b) {
      return false;
    }
    if (a.empty()) {
      return true;
    }
  }
}

}  // namespace

std::string print(const Module& module) {
  std::size_t size = 0;
  for (const Statement& statement : module.statements) {
    size += statement.text.size() + 2;
  }
  std::string text;
  text.reserve(size);
  std::size_t depth = 0;
  for (const Statement& statement : module.statements) {
    if (depth > 0 && !stands_left(statement.kind)) {
      text += '\t';
    }
    text += statement.text;
    text += '\n';
    if (statement.kind == StatementKind::kBlockOpen) {
      ++depth;
    } else if (statement.kind == StatementKind::kBlockClose && depth > 0) {
      --depth;
    }
  }
  return text;
}

bool equal(const Module& left, const Module& right) {
  if (left.statements.size() != right.statements.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.statements.size(); ++i) {
    const Statement& a = left.statements[i];
    const Statement& b = right.statements[i];
    if (a.kind != b.kind || !same_tokens(a.text, b.text)) {
      return false;
    }
  }
  return true;
}

}  // namespace barracuda::ptx
