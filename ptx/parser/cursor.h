// A position in PTX text, and the tokens that the parser reads from there. After the first failure
// the cursor stands at the end of the text, so loops over it end; `failure` says what happened.
// The text must be followed by a zero byte (a std::string's is).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/diagnostic.h"
#include "ptx/module.h"

namespace barracuda::ptx {

namespace character {

inline constexpr std::uint8_t kSpace = 1;
inline constexpr std::uint8_t kDigit = 2;
inline constexpr std::uint8_t kNameStart = 4;  // letters, _ $ %
inline constexpr std::uint8_t kName = 8;       // letters, digits, _ $
inline constexpr std::uint8_t kWord = 16;      // letters, digits, _: what follows a dot

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\n', '\r', '\v', '\f'}) {
    classes[static_cast<unsigned char>(c)] = kSpace;
  }
  for (unsigned c = '0'; c <= '9'; ++c) {
    classes[c] = kDigit | kName | kWord;
  }
  for (unsigned c = 'a'; c <= 'z'; ++c) {
    classes[c] = classes[c - 'a' + 'A'] = kNameStart | kName | kWord;
  }
  classes[static_cast<unsigned char>('_')] = kNameStart | kName | kWord;
  classes[static_cast<unsigned char>('$')] = kNameStart | kName;
  classes[static_cast<unsigned char>('%')] = kNameStart;
  return classes;
}

inline constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

inline bool is(char c, std::uint8_t classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

}  // namespace character

class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        mark_(text.data()),
        mark_line_start_(text.data()) {}

  [[nodiscard]] const char* at() const { return at_; }

  [[nodiscard]] const char* end() const { return end_; }

  [[nodiscard]] char peek() const { return *at_; }  // 0 at the end, and for a zero byte

  [[nodiscard]] char peek_next() const { return at_ < end_ ? at_[1] : '\0'; }

  [[nodiscard]] bool at_end() const { return at_ >= end_; }

  void advance(std::size_t count) { at_ += count; }

  void set(const char* at) { at_ = at; }

  // White space and comments. An unterminated comment is a failure.
  void skip_space() {
    while (character::is(*at_, character::kSpace)) {
      ++at_;
    }
    if (*at_ == '/') {
      skip_comments();
    }
  }

  // The following skip white space first.
  bool accept(char c) {
    skip_space();
    if (*at_ != c || at_end()) {
      return false;
    }
    ++at_;
    return true;
  }

  // False, and a failure that says `expected`, if the next character is another.
  bool expect(char c, std::string_view expected) { return accept(c) || fail_expected(expected); }

  // An identifier; empty if there is none.
  std::string_view accept_name();
  // The name `word` itself.
  bool expect_word(std::string_view word, std::string_view expected);
  // The word after a dot, "::" included; empty if there is no dot. ".global" → "global".
  std::string_view accept_dot_word();
  // A decimal number of 32 bits.
  bool expect_number(std::uint32_t& value, std::string_view expected);
  // A string in quotes, without them.
  bool expect_string(std::string_view& value, std::string_view expected);
  // Stands on `open`: skips to behind the matching `close`, over strings and comments.
  bool skip_group(char open, char close);

  [[nodiscard]] std::string_view since(const char* start) const {
    return {start, static_cast<std::size_t>(at_ - start)};
  }

  // Line and column; cheap where `where` moves forward.
  Position position(const char* where);

  // Record the first failure; both return false.
  bool fail(const char* where, std::string message);
  bool fail_expected(std::string_view expected);

  [[nodiscard]] bool failed() const { return failure_.has_value(); }

  [[nodiscard]] const Diagnostic& failure() const {
    ASSERT(failure_.has_value());
    return *failure_;
  }

 private:
  void skip_comments();
  bool skip_string();

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* mark_;  // position() counted lines up to here
  const char* mark_line_start_;
  std::uint32_t mark_line_ = 1;
  std::optional<Diagnostic> failure_;
};

}  // namespace barracuda::ptx
