#include "base/percent_code.h"

#include "base/number_text.h"

namespace barracuda {

std::string percent_encoded(std::string_view text,
                            const std::function<bool(unsigned char)>& is_written_out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_written_out(byte)) {
      word += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    } else {
      word += c;
    }
  }
  return word;
}

std::string percent_encoded(std::string_view text, std::string_view separators) {
  constexpr unsigned char kDelete = 0x7f;
  return percent_encoded(text, [separators](unsigned char byte) {
    return byte <= ' ' || byte == '%' || byte == kDelete ||
           separators.find(static_cast<char>(byte)) != std::string_view::npos;
  });
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    if (text.front() != '%') {
      decoded += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string_view digits = text.substr(1, 2);
    const auto byte = parse_number<unsigned char>(digits, 16);
    if (digits.size() != 2 || !byte) {
      return std::nullopt;
    }
    decoded += static_cast<char>(*byte);
    text.remove_prefix(3);
  }
  return decoded;
}

}  // namespace barracuda
