#include "report/element_name.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/program_names.h"
#include "report/array_shape.h"
#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(' ', at), text.size());
}

// Behind the bracket that closes the one at `at`; the text's end if none does.
std::size_t end_of_index(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return at;
}

// How many indices a line gives the variable, wherever it uses it with any; 0 if it does not.
// Nothing if it uses what is behind them (a member), or once more and once fewer.
std::optional<std::size_t> indices_given(std::string_view line, const std::string& name) {
  std::size_t indices = 0;
  for (std::size_t at = find_name(line, name); at != line.npos;
       at = find_name(line, name, at + 1)) {
    std::size_t here = 0, next = skip_blanks(line, at + name.size());
    for (; next < line.size() && line[next] == '['; ++here) {
      next = skip_blanks(line, end_of_index(line, next));
    }
    if (here == 0) {
      continue;
    }
    const std::string_view rest = line.substr(next);
    if (rest.starts_with('.') || rest.starts_with("->") || (indices != 0 && indices != here)) {
      return std::nullopt;
    }
    indices = here;
  }
  return indices;
}

// Or may be a whole that the source has as one element, and the compiler as several.
bool takes_many(std::string_view instruction) {
  return instruction.find(".v2") != instruction.npos ||
         instruction.find(".v4") != instruction.npos ||
         instruction.find(".v8") != instruction.npos || instruction.starts_with("cp.") ||
         instruction.starts_with("wgmma") || instruction.starts_with("wmma") ||
         instruction.starts_with("tcgen05") || instruction.find("matrix") != instruction.npos;
}

// "[1][3]" of an element of an array of that shape, as it lies.
std::string indices_of(std::uint64_t element, std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t extent : std::views::reverse(shape)) {
    text = fmt::format("[{}]{}", element % extent, text);
    element /= extent;
  }
  return text;
}

// More than a block can have.
constexpr std::uint64_t kAllSharedBytes = std::uint64_t{1} << 20;
constexpr std::string_view kShared = "shared";

}  // namespace

std::string_view without_stride(std::string_view site_variable) {
  return site_variable.substr(0, site_variable.find('/'));
}

VariablePlace place_of_variable(std::string_view site_variable) {
  const bool has_members = without_stride(site_variable).size() != site_variable.size();
  site_variable = without_stride(site_variable);
  const std::size_t at = site_variable.find('@');
  const std::size_t colon = site_variable.find(':', at == site_variable.npos ? 0 : at);
  const std::string_view symbol = site_variable.substr(0, at);
  VariablePlace place{.name = variable_name(std::string(symbol)), .has_members = has_members};
  if (const std::string_view part = part_of_variable(symbol); !part.empty()) {
    // Of several ("_$_1_$_0": a member of an element) the last alone would be wrong.
    place.element = parse_number<std::uint64_t>(part.substr(kPartMark.size()));
  }
  if (at == site_variable.npos || colon == site_variable.npos) {
    return place;
  }
  const char* const text = site_variable.data();
  (void)std::from_chars(text + at + 1, text + colon, place.offset);
  (void)std::from_chars(text + colon + 1, text + site_variable.size(), place.bytes);
  place.bytes = place.bytes == 0 ? kAllSharedBytes : place.bytes;
  place.is_placed = true;
  return place;
}

std::string element_name(const Finding& finding, const std::string& name, std::uint64_t begin,
                         std::uint64_t bytes, SourceText* sources) {
  const Access* telling = nullptr;
  std::size_t indices = 0;
  for (const Access& access : finding.accesses) {
    const auto here =
        access.is_by_host ? std::optional<std::size_t>{0} : indices_given(access.source, name);
    if (!here) {
      return name;
    }
    if (*here == 0 || takes_many(access.instruction)) {
      continue;
    }
    if (telling != nullptr && (telling->size != access.size || indices != *here)) {
      return name;
    }
    telling = telling == nullptr ? &access : telling;
    indices = *here;
  }
  if (telling == nullptr) {
    return name;
  }
  const std::uint64_t size = telling->size;
  const std::uint64_t address =
      finding.space == kShared ? telling->address & kOffsetMask : telling->address;
  const std::uint64_t offset = address - begin;
  const bool is_element = address >= begin && size != 0 && size < bytes && offset < bytes &&
                          offset % size == 0 && bytes % size == 0;
  if (!is_element || indices == 1) {
    return is_element ? fmt::format("{}[{}]", name, offset / size) : name;
  }
  if (sources == nullptr) {
    return name;
  }
  const std::vector<std::uint64_t> shape =
      array_shape(sources->lines_up_to(telling->place), name, bytes / size);
  return shape.size() == indices ? name + indices_of(offset / size, shape) : name;
}

std::string element_name(const Finding& finding, const VariablePlace& place) {
  std::size_t most = 0;
  for (const Access& access : finding.accesses) {
    const auto here = indices_given(access.source, place.name);
    most = std::max(most, here.value_or(2));
  }
  return place.element && most == 1 ? fmt::format("{}[{}]", place.name, *place.element)
                                    : place.name;
}

}  // namespace barracuda::report
