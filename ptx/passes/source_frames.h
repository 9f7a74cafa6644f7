// Source positions of statements: the .loc in force and its chain of inlined_at. Statements of the
// entered function must be asked for in ascending order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"
#include "ptx/site_table.h"

namespace barracuda::ptx {

class SourceFrames {
 public:
  explicit SourceFrames(const Module& module);

  void enter(const Function& function);
  // Innermost first; without line information one frame with the function alone.
  std::vector<SourceFrame> at(std::size_t statement);

 private:
  struct Place {
    std::uint32_t file = 0, line = 0, column = 0;
    friend bool operator==(const Place&, const Place&) = default;

    friend std::size_t hash_value(const Place& place) {
      return (std::size_t{place.file} * 0x9E3779B97F4A7C15U) ^ (std::size_t{place.line} << 20) ^
             place.column;
    }
  };

  void read_strings(std::string_view section);
  [[nodiscard]] std::string string_at(const Location& location) const;
  [[nodiscard]] SourceFrame frame(std::string function, const Place& place) const;

  const Module& module_;
  const Function* function_ = nullptr;
  std::size_t next_ = 0;
  const Location* current_ = nullptr;
  boost::unordered_flat_map<Place, const Location*> places_;  // the last .loc of each position
  boost::unordered_flat_map<std::uint32_t, std::string_view> files_;
  boost::unordered_flat_map<std::string, std::size_t> labels_;  // into strings_
  std::string strings_;                                         // .debug_str
};

}  // namespace barracuda::ptx
