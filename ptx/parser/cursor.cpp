#include "ptx/parser/cursor.h"

#include <cctype>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace barracuda::ptx {

namespace {

std::string quoted(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isprint(byte) != 0 ? fmt::format("'{}'", c) : fmt::format("byte {:#04x}", byte);
}

}  // namespace

void Cursor::skip_comments() {
  while (!at_end() && *at_ == '/') {
    const auto rest = static_cast<std::size_t>(end_ - at_);
    if (at_[1] == '/') {
      const void* line_end = std::memchr(at_, '\n', rest);
      at_ = line_end != nullptr ? static_cast<const char*>(line_end) : end_;
    } else if (at_[1] == '*') {
      const std::size_t close = std::string_view(at_, rest).find("*/", 2);
      if (close == std::string_view::npos) {
        fail(at_, "unterminated block comment");
        return;
      }
      at_ += close + 2;
    } else {
      return;
    }
    while (character::is(*at_, character::kSpace)) {
      ++at_;
    }
  }
}

std::string_view Cursor::accept_name() {
  skip_space();
  const char* start = at_;
  if (!character::is(*at_, character::kNameStart)) {
    return {};
  }
  ++at_;
  while (character::is(*at_, character::kName)) {
    ++at_;
  }
  return since(start);
}

bool Cursor::expect_word(std::string_view word, std::string_view expected) {
  skip_space();
  const char* start = at_;
  if (accept_name() == word) {
    return true;
  }
  at_ = failed() ? at_ : start;
  return fail_expected(expected);
}

std::string_view Cursor::accept_dot_word() {
  skip_space();
  if (*at_ != '.' || !character::is(peek_next(), character::kWord)) {
    return {};
  }
  const char* start = ++at_;
  while (true) {
    while (character::is(*at_, character::kWord)) {
      ++at_;
    }
    if (*at_ != ':' || at_[1] != ':' || !character::is(at_[2], character::kWord)) {
      return since(start);
    }
    at_ += 2;
  }
}

bool Cursor::expect_number(std::uint32_t& value, std::string_view expected) {
  skip_space();
  const auto [stop, error] = std::from_chars(at_, end_, value);
  if (error != std::errc{}) {
    return fail_expected(expected);
  }
  at_ = stop;
  return true;
}

bool Cursor::expect_string(std::string_view& value, std::string_view expected) {
  skip_space();
  if (*at_ != '"') {
    return fail_expected(expected);
  }
  const char* start = at_ + 1;
  if (!skip_string()) {
    return false;
  }
  value = {start, static_cast<std::size_t>(at_ - start - 1)};
  return true;
}

bool Cursor::skip_string() {
  const char* start = at_;
  for (++at_; !at_end() && *at_ != '"' && *at_ != '\n'; ++at_) {
    if (*at_ == '\\' && at_ + 1 < end_) {
      ++at_;
    }
  }
  if (at_end() || *at_ != '"') {
    return fail(start, "unterminated string");
  }
  ++at_;
  return true;
}

bool Cursor::skip_group(char open, char close) {
  const char* start = at_;
  std::size_t depth = 0;
  while (!at_end()) {
    const char c = *at_;
    if (c == '"') {
      if (!skip_string()) {
        return false;
      }
      continue;
    }
    if (c == '/' && (at_[1] == '/' || at_[1] == '*')) {
      skip_comments();
      continue;
    }
    ++at_;
    if (c == open) {
      ++depth;
    } else if (c == close && --depth == 0) {
      return true;
    }
  }
  return fail(start, fmt::format("'{}' without its '{}'", open, close));
}

Position Cursor::position(const char* where) {
  if (where < mark_) {
    mark_ = mark_line_start_ = begin_;
    mark_line_ = 1;
  }
  while (mark_ < where) {
    const void* line_end = std::memchr(mark_, '\n', static_cast<std::size_t>(where - mark_));
    if (line_end == nullptr) {
      mark_ = where;
      break;
    }
    mark_ = mark_line_start_ = static_cast<const char*>(line_end) + 1;
    ++mark_line_;
  }
  return {.line = mark_line_, .column = static_cast<std::uint32_t>(where - mark_line_start_) + 1};
}

bool Cursor::fail(const char* where, std::string message) {
  if (!failure_) {
    const Position place = position(where);
    failure_ = Diagnostic{
        .message = std::move(message), .file = {}, .line = place.line, .column = place.column};
  }
  at_ = end_;
  return false;
}

bool Cursor::fail_expected(std::string_view expected) {
  skip_space();
  if (at_end()) {
    return fail(at_, fmt::format("expected {}, found the end of the text", expected));
  }
  const char* start = at_;
  if (character::is(*at_, character::kNameStart)) {
    return fail(start, fmt::format("expected {}, found \"{}\"", expected, accept_name()));
  }
  return fail(start, fmt::format("expected {}, found {}", expected, quoted(*start)));
}

}  // namespace barracuda::ptx
