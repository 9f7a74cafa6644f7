#include "ptx/analysis/shared_layout.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/align.h"
#include "device_logger/symbols.h"
#include "ptx/abi.h"

namespace barracuda::ptx {
namespace {

using Names = boost::unordered_flat_set<std::string_view>;

void add_symbols(const Operand& operand, Names& names) {
  if (operand.kind == Operand::Kind::kSymbol) {
    names.insert(operand.name);
  }
  for (const Operand& element : operand.elements) {
    add_symbols(element, names);
  }
}

Names mentioned_in(const Module& module, const Function& entry) {
  Names names;
  for (std::size_t i = entry.body_begin; i < entry.body_end; ++i) {
    for (const Operand& operand : module.statements[i].instruction.operands) {
      add_symbols(operand, names);
    }
  }
  return names;
}

bool is_static_shared(const Variable& variable) {
  return variable.space == StateSpace::kShared && (!variable.is_extern || variable.size() != 0);
}

class Layout {
 public:
  Layout(Names names, std::uint64_t reserved) : names_(std::move(names)), end_(reserved) {}

  void add(const Variable& variable) {
    if (is_static_shared(variable) && names_.erase(variable.name) != 0) {
      const std::uint64_t offset = align_up(end_, alignment_of(variable));
      places_.push_back({.variable = &variable, .offset = offset});
      end_ = places_.back().end();
    }
  }

  std::vector<SharedPlace> take() { return std::move(places_); }

 private:
  Names names_;  // that have no place yet
  std::uint64_t end_;
  std::vector<SharedPlace> places_;
};

}  // namespace

std::vector<SharedPlace> shared_layout(const Module& module, const Function& entry,
                                       std::uint64_t reserved) {
  Layout layout(mentioned_in(module, entry), reserved);
  for_each_of_module(module, [&](const Statement&, const Variable& variable) {
    if (variable.name == wire::kBlockWords) {
      layout.add(variable);
    }
  });
  for (std::size_t i = entry.body_begin; i < entry.body_end; ++i) {
    std::ranges::for_each(module.statements[i].variables,
                          [&](const Variable& variable) { layout.add(variable); });
  }
  for_each_of_module(module,
                     [&](const Statement&, const Variable& variable) { layout.add(variable); });
  return layout.take();
}

}  // namespace barracuda::ptx
