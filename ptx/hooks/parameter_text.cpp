#include "ptx/hooks/parameter_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "device_logger/symbols.h"

namespace barracuda::ptx {
namespace {

// The place in a header's text where a further parameter goes.
struct ListEnd {
  std::size_t position = 0;
  bool has_list = false, is_empty = true;
};

std::size_t skip_comment(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") {
    return std::min(text.find('\n', at), text.size());
  }
  if (text.substr(at, 2) == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  return at;
}

ListEnd find_list_end(std::string_view text, std::size_t name_end) {
  ListEnd list{.position = name_end};
  int depth = 0;
  for (std::size_t at = name_end; at < text.size(); ++at) {
    if (const std::size_t next = skip_comment(text, at); next != at) {
      at = next - 1;
      continue;
    }
    const char c = text[at];
    if (c == '(') {
      list.has_list = true;
      ++depth;
    } else if (c == ')') {
      if (--depth == 0) {
        list.position = at;
        return list;
      }
    } else if (depth > 0 && c > ' ') {
      list.is_empty = false;
    } else if (depth == 0 && c == '.') {  // .maxntid …: there is no list
      return list;
    }
  }
  return list;
}

}  // namespace

std::string with_hidden_parameter(std::string_view header, std::string_view entry,
                                  std::size_t bytes) {
  constexpr std::string_view kEntry = ".entry";
  const std::size_t name = header.find(entry, header.find(kEntry) + kEntry.size());
  const ListEnd list = find_list_end(header, name + entry.size());
  const std::string hidden = fmt::format("{}{}", entry, wire::kHiddenParameterSuffix);
  const std::string parameter = bytes > sizeof(std::uint64_t)
                                    ? fmt::format(".param .align 8 .b8 {}[{}]", hidden, bytes)
                                    : fmt::format(".param .u64 {}", hidden);
  const std::string inserted = !list.has_list  ? fmt::format("({})", parameter)
                               : list.is_empty ? parameter
                                               : fmt::format(",\n{}\n", parameter);
  return fmt::format("{}{}{}", header.substr(0, list.position), inserted,
                     header.substr(list.position));
}

}  // namespace barracuda::ptx
