// Which names are registers at a point of a function: nested blocks declare registers that shadow
// those outside, with or without %, one by one or as ranges.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace barracuda::ptx {

class Scopes {
 public:
  void open();
  void close();

  [[nodiscard]] std::size_t depth() const { return starts_.size(); }

  // `range` > 0 declares name0 … name(range-1).
  void declare_register(std::string_view name, std::uint32_t range);
  // A variable; its element size scales an index (sym[4]).
  void declare_variable(std::string_view name, std::uint32_t element_bytes);

  [[nodiscard]] bool is_register(std::string_view name) const;
  // 1 if the name is not known.
  [[nodiscard]] std::uint32_t element_bytes(std::string_view name) const;

 private:
  struct Declaration {
    std::string_view name;
    std::uint32_t range = 0;
    std::uint32_t element_bytes = 0;  // 0: a register
    std::uint32_t shadowed = 0;       // index + 1 of the declaration it hides
  };

  void declare(Declaration declaration);
  [[nodiscard]] const Declaration* find(std::string_view name) const;
  [[nodiscard]] bool is_in_range(std::string_view name) const;

  std::vector<Declaration> declarations_;
  std::vector<std::size_t> starts_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> latest_;  // index + 1
  std::size_t variables_with_percent_ = 0;
};

}  // namespace barracuda::ptx
