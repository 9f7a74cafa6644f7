#include "report/sanitizer_xml.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace barracuda::report {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// What stands between <name> and </name> next, and is taken off the front of the text; false: there
// is none.
Expected<bool> take_element(std::string_view& text, std::string_view name,
                            std::string_view& content) {
  const std::string open = fmt::format("<{}>", name);
  const std::string close = fmt::format("</{}>", name);
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) {
    return false;
  }
  const std::size_t end = text.find(close, begin);
  if (end == std::string_view::npos) {
    return unexpected({.message = open + " is not closed"});
  }
  content = text.substr(begin + open.size(), end - begin - open.size());
  text.remove_prefix(end + close.size());
  return true;
}

// Characters for entities; `.*` of a regular expression is a pattern's `*`.
std::string as_pattern(std::string_view content) {
  constexpr std::pair<std::string_view, std::string_view> kReplaced[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}, {".*", "*"}};
  const std::size_t begin = std::min(content.find_first_not_of(kBlanks), content.size());
  std::string text(content.substr(begin, content.find_last_not_of(kBlanks) + 1 - begin));
  for (const auto& [from, to] : kReplaced) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

// The first of these elements in the text, as a pattern; empty if there is none.
Expected<std::string> read_pattern(std::string_view text, std::string_view name) {
  std::string_view content;
  TRY(const bool is_there, take_element(text, name, content));
  return is_there ? as_pattern(content) : "";
}

Expected<SanitizerPlace> read_place(std::string_view text) {
  SanitizerPlace place;
  TRY(place.function, read_pattern(text, "func"));
  TRY(place.file, read_pattern(text, "path"));
  if (place.file.empty()) {
    TRY(place.file, read_pattern(text, "file"));
  }
  TRY(place.module, read_pattern(text, "module"));
  return place;
}

// Every element of this name, however deep.
Expected<void> add_places(std::vector<SanitizerPlace>& to, std::string_view text,
                          std::string_view name) {
  std::string_view content;
  for (;;) {
    TRY(const bool is_there, take_element(text, name, content));
    if (!is_there) {
      return {};
    }
    TRY(SanitizerPlace place, read_place(content));
    if (!place.function.empty() || !place.file.empty() || !place.module.empty()) {
      to.push_back(std::move(place));
    }
  }
}

Expected<SanitizerRecord> read_record(std::string_view record) {
  SanitizerRecord read;
  TRY(read.kind, read_pattern(record, "kind"));
  if (auto added = add_places(read.places, record, "where"); !added) {
    return unexpected(std::move(added).error());
  }
  std::string_view stack;
  TRY(const bool has_stack, take_element(record, "deviceStack", stack));
  if (has_stack) {
    if (auto added = add_places(read.stack, stack, "frame"); !added) {
      return unexpected(std::move(added).error());
    }
  }
  return read;
}

}  // namespace

bool is_sanitizer_xml(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin != std::string_view::npos && text[begin] == '<';
}

Expected<std::vector<SanitizerRecord>> read_sanitizer_xml(std::string_view text) {
  std::vector<SanitizerRecord> records;
  if (text.find("<ComputeSanitizerOutput") == std::string_view::npos) {
    return unexpected({.message = "this XML is not compute-sanitizer's"});
  }
  std::string_view content;
  for (;;) {
    TRY(const bool is_there, take_element(text, "record", content));
    if (!is_there) {
      return records;
    }
    TRY(SanitizerRecord record, read_record(content));
    records.push_back(std::move(record));
  }
}

}  // namespace barracuda::report
