#include "report/element_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "base/number_text.h"
#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

bool is_part_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

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

enum class Use : std::uint8_t { kNone, kElement, kOther };

// How a line uses the variable: as name[…] everywhere, or also otherwise (a second index, a
// member).
Use use_in(std::string_view line, const std::string& name) {
  Use use = Use::kNone;
  for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at != 0 && is_part_of_name(line[at - 1])) ||
        (end < line.size() && is_part_of_name(line[end]))) {
      continue;
    }
    const std::size_t bracket = skip_blanks(line, end);
    if (bracket == line.size() || line[bracket] != '[') {
      continue;
    }
    const std::string_view rest = line.substr(skip_blanks(line, end_of_index(line, bracket)));
    if (rest.starts_with('[') || rest.starts_with('.') || rest.starts_with("->")) {
      return Use::kOther;
    }
    use = Use::kElement;
  }
  return use;
}

// Or may be a whole that the source has as one element, and the compiler as several.
bool takes_many(std::string_view instruction) {
  return instruction.find(".v2") != instruction.npos ||
         instruction.find(".v4") != instruction.npos ||
         instruction.find(".v8") != instruction.npos || instruction.starts_with("cp.") ||
         instruction.starts_with("wgmma") || instruction.starts_with("wmma") ||
         instruction.find("matrix") != instruction.npos;
}

// More than a block can have.
constexpr std::uint64_t kAllSharedBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kOffsetMask = 0xffffffff;  // above it the block's rank in its cluster
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
                         std::uint64_t bytes) {
  const Access* telling = nullptr;
  for (const Access& access : finding.accesses) {
    const Use use = access.is_by_host ? Use::kNone : use_in(access.source, name);
    if (use == Use::kOther) {
      return name;
    }
    if (use == Use::kNone || takes_many(access.instruction)) {
      continue;
    }
    if (telling != nullptr && telling->size != access.size) {
      return name;
    }
    telling = telling == nullptr ? &access : telling;
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
  return is_element ? fmt::format("{}[{}]", name, offset / size) : name;
}

std::string element_name(const Finding& finding, const VariablePlace& place) {
  Use use = Use::kNone;
  for (const Access& access : finding.accesses) {
    use = std::max(use, use_in(access.source, place.name));
  }
  return place.element && use == Use::kElement ? fmt::format("{}[{}]", place.name, *place.element)
                                               : place.name;
}

}  // namespace barracuda::report
