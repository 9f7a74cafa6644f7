// Lines of the program's sources, as they lie on this machine: what tells one line from another
// when line numbers have moved. A file that cannot be read has none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/race_report.h"

namespace barracuda::report {

// The file as it is; empty if it cannot be read, is no regular file or is too large for a source.
std::string source_file(const std::string& file);

class SourceText {
 public:
  struct Line {
    std::string text;         // blanks made one, none at the ends
    std::uint32_t order = 0;  // which of the equal lines of its function it is
  };

  // The line of the frame; nothing if it is empty. Reads each file once.
  std::optional<Line> line_of(const Frame& frame);
  // Its text alone, without a search for the begin of its function; empty where there is none.
  std::string_view text_of(const Frame& frame);
  // The file of the frame up to its line; blanks as in a Line.
  std::span<const std::string> lines_up_to(const Frame& frame);

 private:
  const std::vector<std::string>& lines_in(const std::string& file);

  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace barracuda::report
