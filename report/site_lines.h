// What the instructions of a function say of one of its lines whose text cannot be read, and how
// many variables a line has. Made of the site table alone, so the same in every run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ptx/site_table.h"

namespace barracuda::report {

class SiteLines {
 public:
  explicit SiteLines(const ptx::SiteTable& sites) : sites_(sites) {}

  struct Part {
    std::string statement;       // the instructions of the line; without lines, the instruction
    std::uint32_t order = 0;     // which of the lines of its function that read like this
    std::uint32_t variable = 0;  // which of the line's variables it accesses
  };

  Part part_of(const ptx::Site& site);

 private:
  using Place = std::pair<std::string, std::uint32_t>;  // file and line; of PTX without them

  struct Line {
    std::set<std::string> instructions;
    std::vector<std::string> variables;  // in the order of the text
  };

  using Lines = std::map<Place, Line>;

  static Place place_of(const ptx::Site& site);
  const Lines& lines_of(const std::string& function);

  const ptx::SiteTable& sites_;
  std::map<std::string, Lines> functions_;
};

}  // namespace barracuda::report
