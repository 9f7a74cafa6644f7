// Lines of the program's sources, as they lie on this machine: what tells one line from another
// when line numbers have moved. A file that cannot be read has none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/race_report.h"

namespace barracuda::report {

class SourceText {
 public:
  struct Line {
    std::string text;         // blanks made one, none at the ends
    std::uint32_t order = 0;  // which of the equal lines of its function it is
  };

  // The line of the frame. Reads each file once.
  std::optional<Line> line_of(const Frame& frame);

 private:
  const std::vector<std::string>& lines_in(const std::string& file);

  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace barracuda::report
