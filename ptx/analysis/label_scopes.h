// Where the labels of a function are: a label is known in the block that declares it and in the
// blocks nested there; sibling blocks may use the same name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

class LabelScopes {
 public:
  LabelScopes(const Module& module, const Function& function);

  static constexpr std::size_t kNowhere = ~std::size_t{0};

  // The statement of the label (or of a named list) as seen from `statement`.
  [[nodiscard]] std::size_t find(std::size_t statement, std::string_view label) const;

 private:
  using Key = std::pair<std::uint32_t, std::string_view>;  // scope, name

  std::size_t first_;
  std::vector<std::uint32_t> scope_of_;  // per statement of the body
  std::vector<std::uint32_t> parents_;   // per scope; the body's is its own
  boost::unordered_flat_map<Key, std::size_t> labels_;
};

}  // namespace barracuda::ptx
