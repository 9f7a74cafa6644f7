// The instruction forms of ptx_forms.tsv: all that the PTX of 1100 compiled modules uses (a copy of
// the histogram over them, every line of it).
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace barracuda::emulator::test {

struct UsedForm {
  std::string text;
  std::vector<std::string> words;  // the head and the modifiers
  int occurrences = 0;

  [[nodiscard]] bool has(std::string_view word) const {
    return std::ranges::find(words, word) != words.end();
  }

  // The first of the words that the form has, or nothing.
  [[nodiscard]] std::string_view first_of(const std::vector<std::string_view>& some) const {
    const auto found = std::ranges::find_if(some, [&](std::string_view word) { return has(word); });
    return found == some.end() ? std::string_view() : *found;
  }
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

inline std::vector<UsedForm> read_forms() {
  std::ifstream file(FORMS_FILE);
  std::vector<UsedForm> forms;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto columns = split(line, '\t');
    forms.push_back(UsedForm{.text = columns.at(1),
                             .words = split(columns.at(1), '.'),
                             .occurrences = std::stoi(columns.at(2))});
  }
  return forms;
}

// What the emulated device does not have.
inline bool is_excluded(const UsedForm& form) {
  static const std::set<std::string> heads = {"sured", "istypep", "multimem"};
  return heads.contains(form.words[0]) || form.has("tensormap::generic") ||
         (form.words[0] == "tex" && form.has("cube"));
}

// A scalar type by its name: u, s, b or f and its bits.
struct Scalar {
  char kind = 0;
  int bits = 0;

  [[nodiscard]] bool is_float() const { return kind == 'f'; }

  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(bits) / 8; }
};

// The scalar types among a form's words, in order; types that are not plain numbers (bf16, pred,
// f16x2, …) are left out.
inline std::vector<Scalar> scalars_of(const UsedForm& form) {
  std::vector<Scalar> scalars;
  for (const std::string& word : form.words) {
    if (word.size() >= 2 && word.size() <= 4 &&
        std::string_view("usbf").find(word[0]) != std::string_view::npos &&
        word.find_first_not_of("0123456789", 1) == std::string::npos) {
      scalars.push_back({word[0], std::stoi(word.substr(1))});
    }
  }
  return scalars;
}

}  // namespace barracuda::emulator::test
