// Source positions of statements: the .loc in force and its chain of inlined_at. Statements of the
// entered function must be asked for in ascending order.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
    friend auto operator<=>(const Place&, const Place&) = default;

    friend std::size_t hash_value(const Place& place) {
      return (std::size_t{place.file} * 0x9E3779B97F4A7C15U) ^ (std::size_t{place.line} << 20) ^
             place.column;
    }
  };

  // A .loc with what it was inlined into. An outer one is defined before its inner ones, so that
  // recursive templates, which are inlined at their own place, have an end.
  struct Inlining {
    const Location* location = nullptr;
    std::uint32_t outer = kNone;
    std::uint32_t depth = 0;
    std::uint64_t made = 0, used = 0;  // when it, or one inside it, came and was last in force
  };

  static constexpr std::uint32_t kNone = 0xffffffff;

  using Name = std::pair<std::string_view, std::uint32_t>;  // a function's, in .debug_str

  static Place place_of(const Location& location);
  static Place call_of(const Location& location);  // what it was inlined at
  static Name name_of(const Location& location);
  void define(const Location& location);
  std::uint32_t outer_of(const Location& location);
  [[nodiscard]] std::vector<std::uint32_t> known_callers(
      const Location& location, const std::vector<std::uint32_t>& candidates) const;
  [[nodiscard]] std::uint32_t nearest(const std::vector<std::uint32_t>& candidates) const;
  [[nodiscard]] bool was_interrupted_at(const Location& location) const;
  void read_strings(std::string_view section);
  [[nodiscard]] std::string string_at(const Location& location) const;
  [[nodiscard]] SourceFrame frame(std::string function, const Place& place) const;

  const Module& module_;
  const Function* function_ = nullptr;
  std::size_t next_ = 0;
  std::uint32_t current_ = kNone;
  std::uint32_t just_defined_ = kNone;                // no instruction has followed
  std::uint32_t last_ = kNone, before_last_ = kNone;  // in force at the last instructions
  std::uint64_t last_at_ = 0, before_last_at_ = 0;    // when each of the two came into force
  std::uint64_t clock_ = 0;
  // Which functions are known to call one at a position.
  std::map<std::pair<Name, Place>, std::vector<Name>> callers_;
  std::vector<Inlining> inlinings_;                                      // of the entered function
  boost::unordered_flat_map<Place, std::vector<std::uint32_t>> places_;  // those at each position
  boost::unordered_flat_map<std::uint32_t, std::string_view> files_;
  boost::unordered_flat_map<std::string, std::size_t> labels_;  // into strings_
  std::string strings_;                                         // .debug_str
};

}  // namespace barracuda::ptx
