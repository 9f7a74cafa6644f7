// The words of a litmus file with their lines: names and numbers (with the dots of an instruction),
// and signs. Comments and quoted strings are left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace barracuda::memory_model {

struct Word {
  std::string text;  // empty: the end of the file
  std::uint32_t line = 1;
};

// Reads on from word to word; every reader of a part of the file takes its words from here.
class Words {
 public:
  static Expected<Words> split(std::string_view text, const std::string& file);

  [[nodiscard]] const Word& next(std::size_t ahead = 0) const;
  Word take();

  [[nodiscard]] bool is_next(std::string_view text) const { return next().text == text; }

  // Takes it if it is next.
  bool take_if(std::string_view text);
  Expected<void> expect(std::string_view text);
  Expected<std::uint64_t> take_number();
  // That counts something: of 32 bits, none below zero.
  Expected<std::uint32_t> take_index();
  Expected<std::string> take_name();

  // `message` with the file and the line of the next word, or of `line`.
  [[nodiscard]] Diagnostic error(const std::string& message) const {
    return error_at(next().line, message);
  }

  [[nodiscard]] Diagnostic error_at(std::uint32_t line, const std::string& message) const {
    return {.message = message, .file = file_, .line = line};
  }

 private:
  std::vector<Word> words_;  // the last one is the end
  std::size_t at_ = 0;
  std::string file_;
};

bool is_number(std::string_view text);
bool is_name(std::string_view text);
// "'x'", or "the end of the file".
std::string quoted(const Word& word);

}  // namespace barracuda::memory_model
