#include "report/unified_diff.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace barracuda::report {
namespace {

constexpr std::size_t kContext = 3;

struct Line {
  char mark = ' ';                    // or - or +
  std::size_t before = 0, after = 0;  // lines of either file that come before it
  const std::string* text = nullptr;
};

using Lines = std::vector<std::string>;

// What lies between the lines that both begin and that both end with.
struct Middle {
  std::size_t head = 0, rows = 0, columns = 0;
};

Middle middle_of(const Lines& before, const Lines& after) {
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) {
    ++head;
  }
  std::size_t tail = 0;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  return {.head = head, .rows = before.size() - head - tail, .columns = after.size() - head - tail};
}

// Of the middle, by row and column: how long the longest common part of what follows is.
using Table = std::vector<std::vector<std::uint32_t>>;

Table common_lengths(const Lines& before, const Lines& after, const Middle& middle) {
  Table common(middle.rows + 1, std::vector<std::uint32_t>(middle.columns + 1));
  for (std::size_t i = middle.rows; i-- > 0;) {
    for (std::size_t j = middle.columns; j-- > 0;) {
      common[i][j] = before[middle.head + i] == after[middle.head + j]
                         ? common[i + 1][j + 1] + 1
                         : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

// Edits are few and far between: what the files begin and end with alike is most of them, and the
// table of the rest is small.
std::vector<Line> aligned(const Lines& before, const Lines& after) {
  const Middle middle = middle_of(before, after);
  const Table common = common_lengths(before, after, middle);
  std::vector<Line> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto add = [&](char mark) {
    lines.push_back(
        {.mark = mark, .before = i, .after = j, .text = mark == '+' ? &after[j] : &before[i]});
    i += mark == '+' ? 0 : 1;
    j += mark == '-' ? 0 : 1;
  };
  const auto middle_mark = [&] {
    const std::size_t row = i - middle.head;
    const std::size_t column = j - middle.head;
    if (row == middle.rows || column == middle.columns) {
      return row == middle.rows ? '+' : '-';
    }
    if (before[i] == after[j]) {
      return ' ';
    }
    return common[row + 1][column] >= common[row][column + 1] ? '-' : '+';
  };
  while (i < middle.head) {
    add(' ');
  }
  while (i < middle.head + middle.rows || j < middle.head + middle.columns) {
    add(middle_mark());
  }
  while (i < before.size()) {
    add(' ');
  }
  return lines;
}

std::string range(std::size_t first, std::size_t count) {
  const std::size_t line = count == 0 ? first : first + 1;
  return count == 1 ? fmt::format("{}", line) : fmt::format("{},{}", line, count);
}

std::string hunk(const std::vector<Line>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  std::size_t before = 0;
  std::size_t after = 0;
  for (std::size_t i = begin; i < end; ++i) {
    before += lines[i].mark == '+' ? 0 : 1;
    after += lines[i].mark == '-' ? 0 : 1;
    text += lines[i].mark + *lines[i].text + "\n";
  }
  return fmt::format("@@ -{} +{} @@\n{}", range(lines[begin].before, before),
                     range(lines[begin].after, after), text);
}

}  // namespace

std::string unified_diff(const std::string& file, const std::vector<std::string>& before,
                         const std::vector<std::string>& after) {
  const std::vector<Line> lines = aligned(before, after);
  std::string text;
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].mark == ' ') {
      ++i;
      continue;
    }
    const std::size_t begin = i - std::min(i, kContext);
    std::size_t last = i;
    for (; i < lines.size() && i <= last + 2 * kContext; ++i) {
      last = lines[i].mark == ' ' ? last : i;
    }
    const std::size_t end = std::min(last + 1 + kContext, lines.size());
    text += hunk(lines, begin, end);
    i = end;
  }
  return text.empty() ? text : fmt::format("--- {}\n+++ {}\n{}", file, file, text);
}

}  // namespace barracuda::report
