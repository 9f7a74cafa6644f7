#include "report/python_arrays.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/program_names.h"
#include "ptx/triton_memory.h"
#include "report/source_text.h"

namespace barracuda::report {
namespace {

constexpr std::string_view kSymbol = "_cudapy_smem_";
constexpr std::string_view kOfTriton =
    "by which Triton's compiler hands values of these lines from thread to thread";
constexpr std::string_view kMake = "shared.array(";
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool says_nothing(std::string_view line) {
  return stripped(line).empty() || stripped(line).starts_with('#');
}

// Behind the bracket that closes the one at `at`; npos if none does.
std::size_t end_of_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += std::string_view("([{").find(text[at]) != std::string_view::npos   ? 1
             : std::string_view(")]}").find(text[at]) != std::string_view::npos ? -1
                                                                                : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return text.npos;
}

// What stands between commas outside of brackets.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at == list.size() || list[at] == ',') {
      if (const auto part = stripped(list.substr(begin, at - begin)); !part.empty()) {
        parts.emplace_back(part);
      }
      begin = at + 1;
    } else if (list[at] == '(' || list[at] == '[') {
      at = std::min(end_of_brackets(list, at), list.size()) - 1;
    }
  }
  return parts;
}

// "(TPB, TPB)" of the arguments of cuda.shared.array().
std::vector<std::string> shape_of(std::string_view arguments) {
  constexpr std::string_view kShape = "shape";
  std::vector<std::string> all = parts_of(arguments);
  const auto named = std::ranges::find_if(all, [&](std::string_view part) {
    return part.starts_with(kShape) && stripped(part.substr(kShape.size())).starts_with('=');
  });
  if (all.empty()) {
    return {};
  }
  std::string_view shape = named == all.end() ? all.front() : *named;
  shape = named == all.end() ? shape : stripped(shape.substr(shape.find('=') + 1));
  const bool is_tuple = shape.starts_with('(') && end_of_brackets(shape, 0) == shape.size();
  return is_tuple ? parts_of(shape.substr(1, shape.size() - 2)) : std::vector{std::string(shape)};
}

// "tile" of "  tile = cuda.", what stands before the call on its line.
std::string assigned_name(std::string_view before) {
  const auto without_name = [](std::string_view text, bool with_dots) {
    while (!text.empty() && (is_part_of_name(text.back()) || (with_dots && text.back() == '.'))) {
      text.remove_suffix(1);
    }
    return text;
  };
  before = stripped(without_name(before, true));
  if (!before.ends_with('=')) {
    return "";
  }
  before = stripped(before.substr(0, before.size() - 1));
  return std::string(before.substr(without_name(before, false).size()));
}

// How many indices the line gives the name; none: it gives it none.
std::size_t indices_in(std::string_view line, const std::string& name) {
  for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_whole =
        (at == 0 || !is_part_of_name(line[at - 1])) && end < line.size() && line[end] == '[';
    const std::size_t close = is_whole ? end_of_brackets(line, end) : line.npos;
    if (close != line.npos) {
      return parts_of(line.substr(end + 1, close - end - 2)).size();
    }
  }
  return 0;
}

// The first of these characters outside of brackets.
std::size_t find_operation(std::string_view text, std::string_view operations) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') {
      at = std::min(end_of_brackets(text, at), text.size()) - 1;
    } else if (operations.find(text[at]) != operations.npos) {
      return at;
    }
  }
  return text.npos;
}

std::optional<std::uint64_t> value_of(std::string_view text, const std::vector<std::string>& lines,
                                      int depth = 0);

// That of all lines NAME = …, where they agree.
std::optional<std::uint64_t> value_of_name(std::string_view name,
                                           const std::vector<std::string>& lines, int depth) {
  std::set<std::optional<std::uint64_t>> values;
  for (const std::string_view line : lines) {
    std::string_view rest = stripped(line.substr(0, line.find('#')));
    if (rest.starts_with(name)) {
      rest = stripped(rest.substr(name.size()));
      if (rest.starts_with('=') && !rest.starts_with("==")) {
        values.insert(value_of(rest.substr(1), lines, depth));
      }
    }
  }
  return values.size() == 1 ? *values.begin() : std::nullopt;
}

// The value of sums and products of numbers and of names that the file gives one value.
std::optional<std::uint64_t> value_of(std::string_view text, const std::vector<std::string>& lines,
                                      int depth) {
  constexpr int kMostDepth = 8;
  text = stripped(text);
  if (const auto number = parse_number<std::uint64_t>(text)) {
    return number;
  }
  if (text.empty() || depth == kMostDepth) {
    return std::nullopt;
  }
  if (text.front() == '(' && end_of_brackets(text, 0) == text.size()) {
    return value_of(text.substr(1, text.size() - 2), lines, depth + 1);
  }
  for (const std::string_view operations : {"+", "*"}) {
    if (const std::size_t at = find_operation(text, operations); at != text.npos) {
      const auto left = value_of(text.substr(0, at), lines, depth + 1);
      const auto right = value_of(text.substr(at + 1), lines, depth + 1);
      return !left || !right   ? std::nullopt
             : text[at] == '+' ? std::optional(*left + *right)
                               : std::optional(*left * *right);
    }
  }
  return value_of_name(text, lines, depth + 1);
}

// That numba has given it.
std::optional<std::uint64_t> number_of(std::string_view symbol) {
  return symbol.starts_with(kSymbol) ? parse_number<std::uint64_t>(symbol.substr(kSymbol.size()))
                                     : std::nullopt;
}

}  // namespace

bool PythonArrays::is_one(std::string_view symbol) {
  return symbol == ptx::kTritonMemory || number_of(symbol);
}

const PythonArrays::Lines& PythonArrays::lines_in(const std::string& file) {
  const auto [known, is_new] = files_.try_emplace(file);
  if (is_new) {
    const std::string text = source_file(file);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      known->second.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return known->second;
}

// Those of the function around the line, which begins at the nearest `def` that is less indented.
std::vector<PythonArrays::Array> PythonArrays::made_at(const Frame& place) {
  const Lines& lines = lines_in(place.file);
  if (place.line == 0 || place.line > lines.size()) {
    return {};
  }
  std::size_t begin = place.line - 1;
  std::size_t depth = indentation(lines[begin]);
  for (; begin != 0 && depth != 0; --begin) {
    const std::string& line = lines[begin - 1];
    if (says_nothing(line) || indentation(line) >= depth) {
      continue;
    }
    depth = indentation(line);
    if (stripped(line).starts_with("def ")) {
      break;
    }
  }
  std::string text;
  for (std::size_t row = begin; row < lines.size(); ++row) {
    if (row >= place.line && !says_nothing(lines[row]) && indentation(lines[row]) <= depth) {
      break;
    }
    text += lines[row].substr(0, lines[row].find('#')) + '\n';
  }
  std::vector<Array> made;
  for (std::size_t at = text.find(kMake); at != text.npos; at = text.find(kMake, at + 1)) {
    const std::size_t open = at + kMake.size() - 1;
    const std::size_t close = end_of_brackets(text, open);
    const std::size_t line = text.rfind('\n', at) + 1;  // npos + 1: the first
    made.push_back({.name = assigned_name(std::string_view(text).substr(line, at - line)),
                    .shape = close == text.npos
                                 ? std::vector<std::string>()
                                 : shape_of(text.substr(open + 1, close - open - 2))});
  }
  return made;
}

const std::set<std::uint64_t>& PythonArrays::numbers_in(const std::string& function) {
  const auto [known, is_new] = numbers_.try_emplace(function);
  if (is_new) {
    for (const ptx::Site& site : sites_) {
      const std::string_view variable = site.variable;
      const std::string_view symbol = variable.substr(0, variable.find_first_of("@/"));
      if (const auto number = number_of(symbol); number && site.function == function) {
        known->second.insert(*number);
      }
    }
  }
  return known->second;
}

const PythonArrays::Array* PythonArrays::chosen(const std::vector<Array>& made,
                                                const Finding& finding, const ptx::Site& site) {
  std::vector<const Array*> indexed;
  for (const Array& array : made) {
    const bool is_in_all = std::ranges::all_of(finding.accesses, [&](const Access& access) {
      return access.source.empty() || indices_in(access.source, array.name) != 0;
    });
    if (!array.name.empty() && is_in_all) {
      indexed.push_back(&array);
    }
  }
  if (indexed.size() == 1) {
    return indexed.front();
  }
  const std::set<std::uint64_t>& numbers = numbers_in(site.function);
  const auto own = numbers.find(number_of(place_of_variable(site.variable).name).value_or(0));
  if (own == numbers.end() || numbers.size() != made.size()) {
    return nullptr;
  }
  const Array* const same = &made[static_cast<std::size_t>(std::distance(numbers.begin(), own))];
  const bool is_possible = indexed.empty() || std::ranges::find(indexed, same) != indexed.end();
  return is_possible && !same->name.empty() ? same : nullptr;
}

std::vector<std::uint64_t> PythonArrays::row_lengths(const Array& array, const Lines& lines) {
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 1; i < array.shape.size(); ++i) {
    const auto length = value_of(array.shape[i], lines);
    if (!length || *length == 0) {
      return {};
    }
    lengths.push_back(*length);
  }
  return lengths;
}

std::string PythonArrays::name(const Finding& finding, const ptx::Site& site) {
  if (place_of_variable(site.variable).name == ptx::kTritonMemory) {
    return std::string(ptx::kTritonMemory);
  }
  const std::vector<Array> made = made_at(finding.accesses.front().place);
  const Array* const array = chosen(made, finding, site);
  return array == nullptr ? "" : array->name;
}

std::string PythonArrays::element(const Finding& finding, const ptx::Site& site) {
  const VariablePlace place = place_of_variable(site.variable);
  if (place.name == ptx::kTritonMemory) {
    return fmt::format("{}, {}", ptx::kTritonMemory, kOfTriton);
  }
  const std::vector<Array> made = made_at(finding.accesses.front().place);
  const Array* const array = chosen(made, finding, site);
  if (array == nullptr) {
    const std::uint64_t address = finding.accesses.front().address & kOffsetMask;
    return place.is_placed ? fmt::format("byte {} of a shared array of {} bytes",
                                         address - place.offset, place.bytes)
                           : "a shared array";
  }
  const std::string flat = element_name(finding, array->name, place.offset, place.bytes, nullptr);
  std::size_t indices = 0;
  for (const Access& access : finding.accesses) {
    indices = std::max(indices, indices_in(access.source, array->name));
  }
  if (flat == array->name || !place.is_placed || indices <= 1) {
    return place.is_placed ? flat : array->name;
  }
  const std::string_view digits = std::string_view(flat).substr(array->name.size() + 1);
  std::uint64_t rest = parse_number<std::uint64_t>(digits.substr(0, digits.size() - 1)).value_or(0);
  std::vector<std::uint64_t> lengths =
      row_lengths(*array, lines_in(finding.accesses.front().place.file));
  if (lengths.size() + 1 != indices) {
    return fmt::format("{}, element {} as it lies", array->name, rest);
  }
  std::string text;
  for (std::size_t i = lengths.size(); i != 0; --i) {
    text = fmt::format(", {}{}", rest % lengths[i - 1], text);
    rest /= lengths[i - 1];
  }
  return fmt::format("{}[{}{}]", array->name, rest, text);
}

}  // namespace barracuda::report
