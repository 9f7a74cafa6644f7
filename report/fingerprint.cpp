#include "report/fingerprint.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

constexpr int kForm = 1;
// Between parts, so that no two lists of parts are one text.
constexpr char kEnd = '\0';

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// "app+0x1459": the program without symbols.
std::string_view without_offset(std::string_view function) {
  return function.substr(0, function.find("+0x"));
}

std::string key_of(const Access& access, SourceText& sources) {
  std::string key(file_name(access.place.file));
  key += kEnd;
  key += template_name(std::string(without_offset(access.place.function)));
  key += kEnd;
  if (const auto line = sources.line_of(access.place)) {
    key += fmt::format("text {}{}{}", line->order, kEnd, line->text);
  } else {
    key += fmt::format("instructions {}{}{}", access.order, kEnd, access.statement);
  }
  return key + kEnd + fmt::format("{}{}", access.variable, kEnd);
}

// What is wrong, without sizes and seconds.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return text;
}

}  // namespace

std::string fingerprint_of(const Finding& finding, SourceText& sources) {
  std::vector<std::string> keys;
  keys.reserve(finding.accesses.size());
  for (const Access& access : finding.accesses) {
    keys.push_back(key_of(access, sources));
  }
  std::ranges::sort(keys);
  if (finding.type != FindingType::kRace) {  // how many threads are where differs from run to run
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());
  }
  std::string text =
      fmt::format("{}{}{}{}{}{}", kForm, kEnd, name_of(finding.type), kEnd, finding.space, kEnd);
  if (finding.type == FindingType::kMemoryError) {
    text += without_numbers(finding.missing) + kEnd;
  }
  for (const std::string& key : keys) {
    text += key;
  }
  return hash128(text).hex();
}

}  // namespace barracuda::report
