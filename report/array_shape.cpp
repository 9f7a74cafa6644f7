#include "report/array_shape.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <optional>
#include <ranges>

#include "base/number_text.h"
#include "base/program_names.h"

namespace barracuda::report {
namespace {

constexpr std::uint64_t kMostUnknown = 1024;  // of a dimension that nothing says
constexpr int kMostNested = 4;                // names that are defined by names

using Lines = std::span<const std::string>;

// At its begin.
std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return find_name(text, word) != text.npos; });
}

// What the extents of an array are written with: sums and products of numbers and names.
class Expression {
 public:
  using ValueOf = std::function<std::optional<std::uint64_t>(std::string_view name)>;

  Expression(std::string_view text, const ValueOf& value_of) : rest_(text), value_of_(value_of) {}

  // Nothing if it is anything else, or a name has no value.
  std::optional<std::uint64_t> value() {
    const std::uint64_t found = sum();
    return is_known_ && without_blanks(rest_).empty() ? std::optional(found) : std::nullopt;
  }

 private:
  void skip_blanks() { rest_ = without_blanks(rest_); }

  bool take(char letter) {
    skip_blanks();
    const bool is_there = rest_.starts_with(letter);
    rest_.remove_prefix(is_there ? 1 : 0);
    return is_there;
  }

  std::uint64_t sum() {
    std::uint64_t all = product();
    for (;;) {
      if (take('+')) {
        all += product();
      } else if (take('-')) {
        all -= product();
      } else {
        return all;
      }
    }
  }

  std::uint64_t product() {
    std::uint64_t all = factor();
    for (;;) {
      if (take('*')) {
        all *= factor();
      } else if (take('/')) {
        const std::uint64_t by = factor();
        is_known_ = is_known_ && by != 0;
        all = by == 0 ? 0 : all / by;
      } else {
        return all;
      }
    }
  }

  std::uint64_t factor() {
    if (take('(')) {
      const std::uint64_t inner = sum();
      is_known_ = take(')') && is_known_;
      return inner;
    }
    skip_blanks();
    const auto end = std::ranges::find_if_not(rest_, is_part_of_name);
    std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(word.size());
    std::optional<std::uint64_t> found;
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
      word = word.substr(0, word.find_last_not_of("uUlL") + 1);
      found = parse_number<std::uint64_t>(word);
    } else if (!word.empty()) {
      found = value_of_(word);
    }
    is_known_ = is_known_ && found;
    return found.value_or(0);
  }

  std::string_view rest_;
  const ValueOf& value_of_;
  bool is_known_ = true;
};

// The texts between the brackets that follow.
std::vector<std::string_view> indices_at(std::string_view text) {
  std::vector<std::string_view> found;
  for (;;) {
    text = without_blanks(text);
    const std::size_t end = text.find(']');
    if (!text.starts_with('[') || end == text.npos) {
      return found;
    }
    found.push_back(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
  }
}

// Of the last line that declares it.
std::vector<std::string_view> declared_extents(Lines lines, std::string_view name) {
  constexpr auto kSpaces =
      std::to_array<std::string_view>({"__shared__", "__device__", "__managed__", "__constant__"});
  for (const std::string& line : std::views::reverse(lines)) {
    const std::size_t at = find_name(line, name);
    if (at != line.npos && has_any(std::string_view(line).substr(0, at), kSpaces)) {
      return indices_at(std::string_view(line).substr(at + name.size()));
    }
  }
  return {};
}

// "#define NAME TEXT", or "constexpr int NAME = TEXT;".
std::optional<std::string_view> definition_in(std::string_view line, std::string_view name) {
  constexpr auto kConstants =
      std::to_array<std::string_view>({"const", "constexpr", "enum", "static"});
  const std::size_t at = find_name(line, name);
  if (at == line.npos) {
    return std::nullopt;
  }
  std::string_view rest = line.substr(at + name.size());
  rest = rest.substr(0, rest.find("//"));
  const std::string_view before = line.substr(0, at);
  if (before.find('#') != before.npos && find_name(before, "define") != before.npos) {
    return rest.substr(0, rest.find("/*"));
  }
  rest = without_blanks(rest);
  return rest.starts_with('=') && has_any(before, kConstants)
             ? std::optional(rest.substr(1, rest.find_first_of(",;}") - 1))
             : std::nullopt;
}

std::optional<std::uint64_t> value_in(Lines lines, std::string_view name, int nested) {
  const Expression::ValueOf value_of = [&](std::string_view other) {
    return nested == kMostNested ? std::nullopt : value_in(lines, other, nested + 1);
  };
  for (const std::string& line : std::views::reverse(lines)) {
    if (const auto text = definition_in(line, name)) {
      return Expression(*text, value_of).value();
    }
  }
  return std::nullopt;
}

// Nothing unless they make up so many.
std::vector<std::uint64_t> shape_of(std::span<const std::string_view> extents,
                                    const Expression::ValueOf& value_of, std::uint64_t elements) {
  std::vector<std::uint64_t> shape;
  std::uint64_t product = 1;
  for (const std::string_view extent : extents) {
    const std::optional<std::uint64_t> value = Expression(extent, value_of).value();
    if (!value || *value == 0 || *value > elements) {
      return {};
    }
    product *= *value;
    shape.push_back(*value);
  }
  return product == elements ? shape : std::vector<std::uint64_t>{};
}

}  // namespace

std::vector<std::uint64_t> array_shape(Lines lines, std::string_view name, std::uint64_t elements) {
  const std::vector<std::string_view> extents = declared_extents(lines, name);
  if (extents.empty()) {
    return {};
  }
  std::string_view unknown;
  const Expression::ValueOf defined = [&](std::string_view other) {
    const std::optional<std::uint64_t> value = value_in(lines, other, 0);
    unknown = value ? unknown : other;
    return value;
  };
  if (std::vector<std::uint64_t> shape = shape_of(extents, defined, elements); !shape.empty()) {
    return shape;
  }
  for (std::uint64_t guess = 1; guess <= kMostUnknown && !unknown.empty(); ++guess) {
    const Expression::ValueOf value_of = [&](std::string_view other) {
      return other == unknown ? std::optional(guess) : value_in(lines, other, 0);
    };
    std::vector<std::uint64_t> shape = shape_of(extents, value_of, elements);
    if (!shape.empty()) {
      return shape;
    }
  }
  return {};
}

}  // namespace barracuda::report
