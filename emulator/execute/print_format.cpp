#include "emulator/execute/print_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "emulator/state/host_address.h"

namespace barracuda::emulator {

namespace {

struct Conversion {
  std::string flags;     // flags, width and precision, with * replaced by its argument
  bool is_long = false;  // 8-byte integer
  char kind = 0;
};

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// Reads what stands behind '%'; `at` is left behind the conversion.
Conversion read_conversion(std::string_view format, std::size_t& at, PrintArguments& arguments) {
  Conversion conversion;
  while (at < format.size() && is_one_of(format[at], "-+ #0123456789.*")) {
    if (format[at] == '*') {
      conversion.flags += std::to_string(static_cast<std::int32_t>(arguments.next(4)));
    } else {
      conversion.flags += format[at];
    }
    ++at;
  }
  while (at < format.size() && is_one_of(format[at], "hlLqjzt")) {
    conversion.is_long = conversion.is_long || is_one_of(format[at], "lLqjzt");
    ++at;
  }
  conversion.kind = at < format.size() ? format[at++] : '\0';
  return conversion;
}

template <class Value>
void append(std::string& output, const std::string& format, Value value) {
  std::array<char, 512> buffer{};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  if (length > 0) {
    output.append(buffer.data(), std::min(static_cast<std::size_t>(length), buffer.size() - 1));
  }
}

// A string may be longer than any buffer: only its width and precision matter.
void append_string(std::string& output, const std::string& flags, const std::string& text) {
  const std::size_t dot = flags.find('.');
  std::string shown = text;
  if (dot != std::string::npos) {
    shown.resize(
        std::min<std::size_t>(shown.size(), std::strtoul(flags.c_str() + dot + 1, nullptr, 10)));
  }
  const bool left = flags.find('-') != std::string::npos;
  const std::size_t start = flags.find_first_of("123456789");
  const std::size_t width = start == std::string::npos || (dot != std::string::npos && start > dot)
                                ? 0
                                : std::strtoul(flags.c_str() + start, nullptr, 10);
  const std::size_t padding = width > shown.size() ? width - shown.size() : 0;
  output.append(left ? 0 : padding, ' ');
  output += shown;
  output.append(left ? padding : 0, ' ');
}

bool append_value(const Conversion& conversion, PrintArguments& arguments, std::string& output) {
  const std::string percent = "%" + conversion.flags;
  if (is_one_of(conversion.kind, "di")) {
    const auto value = conversion.is_long ? static_cast<std::int64_t>(arguments.next(8))
                                          : static_cast<std::int32_t>(arguments.next(4));
    append(output, percent + "ll" + conversion.kind, static_cast<long long>(value));
  } else if (is_one_of(conversion.kind, "ouxX")) {
    const std::uint64_t value = arguments.next(conversion.is_long ? 8 : 4);
    append(output, percent + "ll" + conversion.kind, static_cast<unsigned long long>(value));
  } else if (is_one_of(conversion.kind, "fFeEgGaA")) {
    append(output, percent + conversion.kind, std::bit_cast<double>(arguments.next(8)));
  } else if (conversion.kind == 'c') {
    append(output, percent + 'c', static_cast<int>(arguments.next(4)));
  } else if (conversion.kind == 'p') {
    append(output, percent + 'p', host_address<const void>(arguments.next(8)));
  } else if (conversion.kind == 's') {
    append_string(output, conversion.flags, arguments.string_at(arguments.next(8)));
  } else {
    return false;
  }
  return true;
}

}  // namespace

int print_format(std::string_view format, PrintArguments& arguments, std::string& output) {
  int conversions = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      output += format[at++];
      continue;
    }
    ++at;
    if (at < format.size() && format[at] == '%') {
      output += '%';
      ++at;
      continue;
    }
    const Conversion conversion = read_conversion(format, at, arguments);
    if (!append_value(conversion, arguments, output)) {
      return -1;
    }
    ++conversions;
  }
  return conversions;
}

}  // namespace barracuda::emulator
