#include "weak_memory/memory_model/litmus_words.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/number_text.h"

namespace barracuda::memory_model {
namespace {

// More than any test: a file of another kind, that someone named by mistake.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kLongestShown = 40;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%' || c == '$';
}

bool is_inner(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  // Returns what is wrong, or nothing.
  std::string split(std::vector<Word>& words) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line;
      }
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (starts("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (starts("(*")) {
        if (!skip_past("*)", 2)) {
          return "this comment has no end; close it with *)";
        }
      } else if (c == '"') {
        if (!skip_past("\"", 1)) {
          return "this text has no closing quote";
        }
      } else if (const std::size_t length = length_of_word(); length != 0) {
        words.push_back({std::string(text_.substr(at_, length)), line});
        at_ += length;
      } else {
        return c > ' ' && c <= '~'
                   ? fmt::format("unexpected '{}'", c)
                   : fmt::format("unexpected byte {:#04x}", static_cast<unsigned char>(c));
      }
    }
    words.push_back({"", words.empty() ? line : words.back().line});
    return "";
  }

  std::uint32_t line = 1;

 private:
  [[nodiscard]] bool starts(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }

  bool skip_past(std::string_view end, std::size_t opening) {
    const std::size_t found = text_.find(end, at_ + opening);
    if (found == std::string_view::npos) {
      return false;
    }
    const auto skipped = text_.substr(at_, found - at_);
    line += static_cast<std::uint32_t>(std::ranges::count(skipped, '\n'));
    at_ = found + end.size();
    return true;
  }

  [[nodiscard]] std::size_t length_of_word() const {
    for (const std::string_view sign : {"/\\", "\\/", "==", "!="}) {
      if (starts(sign)) {
        return sign.size();
      }
    }
    const char c = text_[at_];
    const bool is_negative = c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_negative || is_inner(c)) {
      const auto rest = text_.substr(at_ + 1);
      return 1 + static_cast<std::size_t>(std::ranges::find_if_not(rest, is_inner) - rest.begin());
    }
    return std::string_view("{};,:=|@()~[]+-*&<>#!?'").find(c) != std::string_view::npos ? 1 : 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Expected<Words> Words::split(std::string_view text, const std::string& file) {
  Words words;
  words.file_ = file;
  if (text.size() > kMostBytes) {
    return unexpected(words.error_at(1, "this is too long for a litmus test (1 MiB at most)"));
  }
  Splitter splitter(text);
  if (const std::string problem = splitter.split(words.words_); !problem.empty()) {
    return unexpected(words.error_at(splitter.line, problem));
  }
  return words;
}

const Word& Words::next(std::size_t ahead) const {
  return words_[std::min(at_ + ahead, words_.size() - 1)];
}

Word Words::take() {
  Word word = next();
  at_ = std::min(at_ + 1, words_.size() - 1);
  return word;
}

bool Words::take_if(std::string_view text) {
  const bool is_it = is_next(text);
  if (is_it) {
    take();
  }
  return is_it;
}

Expected<void> Words::expect(std::string_view text) {
  if (!take_if(text)) {
    return unexpected(error(fmt::format("'{}' is expected here, not {}", text, quoted(next()))));
  }
  return {};
}

Expected<std::uint64_t> Words::take_number() {
  const Word word = next();
  const auto value = parse_number<std::int64_t>(word.text);
  if (!value && is_number(word.text)) {
    using Limits = std::numeric_limits<std::int64_t>;
    return unexpected(error(fmt::format("{} does not fit into 64 bits: numbers are from {} to {}",
                                        quoted(word), Limits::min(), Limits::max())));
  }
  if (!value) {
    return unexpected(error("a number is expected here, not " + quoted(word)));
  }
  take();
  return static_cast<std::uint64_t>(*value);
}

Expected<std::uint32_t> Words::take_index() {
  const Word word = next();
  TRY(const std::uint64_t value, take_number());
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  if (value > kMost) {
    return unexpected(error_at(
        word.line,
        fmt::format("a number from 0 to {} is expected here, not {}", kMost, quoted(word))));
  }
  return static_cast<std::uint32_t>(value);
}

Expected<std::string> Words::take_name() {
  if (!is_name(next().text)) {
    return unexpected(error("a name is expected here, not " + quoted(next())));
  }
  return take().text;
}

bool is_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && std::ranges::all_of(digits, is_digit);
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && text.find('.') == std::string_view::npos;
}

std::string quoted(const Word& word) {
  if (word.text.empty()) {
    return "the end of the file";
  }
  return word.text.size() <= kLongestShown ? "'" + word.text + "'"
                                           : "'" + word.text.substr(0, kLongestShown) + "...'";
}

}  // namespace barracuda::memory_model
