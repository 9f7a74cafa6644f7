// The function that a line of a kernel is in. Compilers drop the chain of inlined calls from some
// copies of an instruction (of an unrolled loop's later rounds): they seem to stand in the kernel
// itself then, and one line would be two places of two names. Other copies still have it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ptx/site_table.h"

namespace barracuda::report {

class LineFunctions {
 public:
  explicit LineFunctions(const ptx::SiteTable& sites) : sites_(sites) {}

  // Mangled; null if the site has its chain, or no other one of its line has one.
  const std::string* of(const ptx::Site& site);

 private:
  using Line = std::pair<std::string, std::uint32_t>;  // file and number
  using Names = std::map<Line, std::string>;

  const Names& names_in(const std::string& function);

  const ptx::SiteTable& sites_;
  std::map<std::string, Names> functions_;
};

}  // namespace barracuda::report
