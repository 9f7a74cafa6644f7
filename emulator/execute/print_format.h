// Device printf: a C format and arguments that are packed in device memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace barracuda::emulator {

class PrintArguments {
 public:
  PrintArguments() = default;
  virtual ~PrintArguments() = default;
  PrintArguments(const PrintArguments&) = delete;
  PrintArguments& operator=(const PrintArguments&) = delete;
  // The next argument of that many bytes, naturally aligned.
  virtual std::uint64_t next(std::uint32_t bytes) = 0;
  virtual std::string string_at(std::uint64_t address) = 0;
};

// Appends to `output`; the number of conversions, or -1 for a format that has none of C's.
int print_format(std::string_view format, PrintArguments& arguments, std::string& output);

}  // namespace barracuda::emulator
