#include "report/line_fold.h"

#include <algorithm>

namespace barracuda::report {
namespace {

// With less room than this, there is nothing that could be read.
constexpr std::size_t kLeastRoom = 20;

struct Letter {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// A letter of UTF-8, or an escape sequence that sets a colour.
Letter letter_at(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("\033[")) {
    if (const std::size_t end = text.find('m', at); end != text.npos) {
      return {.bytes = end + 1 - at, .columns = 0};
    }
  }
  Letter letter;
  while (at + letter.bytes < text.size() && continues_letter(text[at + letter.bytes])) {
    ++letter.bytes;
  }
  return letter;
}

struct Break {
  std::size_t end = 0;   // of what stays
  std::size_t next = 0;  // where the rest begins
};

// Where a line that is too wide is broken. Never before `least`, so that each piece has some of it.
Break place_to_break(std::string_view line, std::size_t columns, std::size_t least) {
  Break at_blank;
  Break at_mark;
  std::size_t taken = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Letter letter = letter_at(line, at);
    if (line[at] == ' ' && at > least) {
      at_blank = {.end = at, .next = at + 1};
    }
    if (taken + letter.columns > columns) {
      // A blank far to the left would leave most of the line empty.
      const bool is_blank_better = at_blank.end != 0 && 2 * at_blank.end >= at;
      const Break best = is_blank_better || at_mark.end == 0 ? at_blank : at_mark;
      return best.end != 0 ? best : Break{.end = at, .next = at};
    }
    taken += letter.columns;
    at += letter.bytes;
    if (at > least && (line[at - 1] == ',' || line[at - 1] == '/' || line[at - 1] == ':') &&
        !line.substr(at).starts_with(':')) {
      at_mark = {.end = at, .next = at};
    }
  }
  return {.end = line.size(), .next = line.size()};
}

void fold_line(std::string_view line, std::size_t columns, std::size_t hang, std::string& text) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string margin(std::min(indent + hang, columns - kLeastRoom), ' ');
  std::string piece(line);
  std::size_t least = indent;
  while (columns_of(piece) > columns) {
    const Break found = place_to_break(piece, columns, least);
    text.append(piece, 0, found.end);
    text += '\n';
    piece.replace(0, std::min(piece.find_first_not_of(' ', found.next), piece.size()), margin);
    least = margin.size();
  }
  text += piece;
}

}  // namespace

std::size_t columns_of(std::string_view line) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Letter letter = letter_at(line, at);
    columns += letter.columns;
    at += letter.bytes;
  }
  return columns;
}

std::string folded(std::string_view text, std::size_t columns, std::size_t hang) {
  if (columns == 0) {
    return std::string(text);
  }
  columns = std::max(columns, 2 * kLeastRoom);
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    fold_line(text.substr(0, end), columns, hang, result);
    if (end == text.npos) {
      break;
    }
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace barracuda::report
