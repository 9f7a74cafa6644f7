#include "report/source_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/program_names.h"
#include "base/text_lines.h"
#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

// No source that a person wrote is larger.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20;

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string with_single_blanks(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (!is_blank(c)) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (text.ends_with(' ')) {
    text.pop_back();
  }
  return text;
}

// "ns::Tile::load(int) const" → "load"
std::string own_name(const std::string& function) {
  std::string name = template_name(function);
  name = name.substr(0, name.find('('));
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

// Whether the name at `at` of line `row` is followed by parameters and a body. A call is not, but
// for one in the condition of an `if`; that only makes a part of the function of it.
bool is_definition(const std::vector<std::string>& lines, std::size_t row, std::size_t at) {
  constexpr std::size_t kMostLines = 64;  // of a header
  int depth = 0;
  bool has_parameters = false;
  for (std::size_t i = row; i < std::min(lines.size(), row + kMostLines); ++i, at = 0) {
    for (; at < lines[i].size(); ++at) {
      const char c = lines[i][at];
      if (c == '(') {
        has_parameters = true;
        ++depth;
      } else if (c == ')') {
        --depth;
      } else if (depth == 0 && has_parameters && (c == '{' || c == ';')) {
        return c == '{';
      } else if (depth == 0 && !has_parameters && !is_blank(c)) {
        return false;
      }
    }
  }
  return false;
}

bool defines(const std::vector<std::string>& lines, std::size_t row, const std::string& name) {
  const std::string& line = lines[row];
  for (std::size_t at = find_name(line, name); at != std::string::npos;
       at = find_name(line, name, at + 1)) {
    if (is_definition(lines, row, at + name.size())) {
      return true;
    }
  }
  return false;
}

// The row where the function begins that `row` is in; of a lambda or a macro's, the file's begin.
std::size_t begin_of_function(const std::vector<std::string>& lines, std::size_t row,
                              const std::string& function) {
  const std::string name = own_name(function);
  if (name.empty()) {
    return 0;
  }
  for (std::size_t i = row + 1; i-- > 0;) {
    if (defines(lines, i, name)) {
      return i;
    }
  }
  return 0;
}

}  // namespace

std::string source_file(const std::string& file) {
  std::error_code error;
  // A name in PTX may be that of anything, of a pipe without a writer for example.
  if (!std::filesystem::is_regular_file(file, error) ||
      std::filesystem::file_size(file, error) > kMostBytes || error) {
    return "";
  }
  return read_file(file).value_or("");
}

const std::vector<std::string>& SourceText::lines_in(const std::string& file) {
  const auto [known, is_new] = files_.try_emplace(file);
  if (!is_new) {
    return known->second;
  }
  const std::string text = source_file(file);
  TextLines lines(text);
  while (const auto line = lines.next()) {
    known->second.push_back(with_single_blanks(*line));
  }
  return known->second;
}

std::string_view SourceText::text_of(const Frame& frame) {
  if (frame.file.empty() || frame.line == 0) {
    return "";
  }
  const std::vector<std::string>& lines = lines_in(frame.file);
  return frame.line > lines.size() ? std::string_view() : lines[frame.line - 1];
}

std::span<const std::string> SourceText::lines_up_to(const Frame& frame) {
  if (text_of(frame).empty()) {
    return {};
  }
  return std::span(lines_in(frame.file)).first(frame.line);
}

std::optional<SourceText::Line> SourceText::line_of(const Frame& frame) {
  if (text_of(frame).empty()) {
    return std::nullopt;
  }
  const std::vector<std::string>& lines = lines_in(frame.file);
  const std::size_t row = frame.line - 1;
  const std::size_t begin = begin_of_function(lines, row, frame.function);
  const auto order = std::count(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                lines.begin() + static_cast<std::ptrdiff_t>(row), lines[row]);
  return Line{.text = lines[row], .order = static_cast<std::uint32_t>(order)};
}

}  // namespace barracuda::report
