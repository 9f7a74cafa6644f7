#include "preload/assembler_call.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "fatbin/fatbin.h"

namespace barracuda::preload {
namespace {

// An options file within an options file is read as well; one that names itself has an end.
constexpr int kMostNesting = 8;

// Words between white space, with quotes around what holds some.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (quote == c) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      is_open = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (is_open) {
        words.push_back(std::exchange(word, {}));
      }
      is_open = false;
    } else {
      word += c;
      is_open = true;
    }
  }
  if (is_open) {
    words.push_back(word);
  }
  return words;
}

// The value of this option, in the same word or the next one.
std::optional<std::string> value_at(const std::vector<std::string>& words, std::size_t& at,
                                    std::string_view name, std::string_view short_name) {
  const std::string& word = words[at];
  const std::size_t end = word.find('=');
  const std::string_view option = std::string_view(word).substr(0, end);
  if (option != name && option != short_name) {
    return std::nullopt;
  }
  if (end != word.npos) {
    return word.substr(end + 1);
  }
  return at + 1 < words.size() ? std::optional(words[++at]) : std::nullopt;
}

void read_words(const std::vector<std::string>& words, AssemblerCall& call, int nesting) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (const auto output = value_at(words, at, "--output-file", "-o")) {
      call.output = *output;
    } else if (const auto text = value_at(words, at, "--input-as-string", "-ias")) {
      if (is_ptx(*text)) {
        call.texts.push_back(*text);
      }
    } else if (const auto file = value_at(words, at, "--options-file", "-optf")) {
      const Expected<std::string> more = read_file(*file);
      if (more && nesting < kMostNesting) {
        read_words(words_of(*more), call, nesting + 1);
      }
    } else if (words[at] == "-" || words[at] == "/dev/stdin") {
      call.reads_standard_input = true;
    } else if (!words[at].starts_with('-')) {
      call.files.push_back(words[at]);
    }
  }
}

}  // namespace

AssemblerCall read_assembler_call(const std::vector<std::string>& words) {
  AssemblerCall call;
  read_words(words, call, 0);
  return call;
}

bool is_ptx(const std::string& text) {
  return fatbin::kind_of_image(text.c_str()) == fatbin::ImageKind::kPtxText;
}

}  // namespace barracuda::preload
