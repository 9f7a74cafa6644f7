// One --arg of `barracuda kernel`: a scalar, or a buffer in device memory, as its bytes.
//
//   u32=5  s64=-1  f32=0.5  b16=0x3c00             a scalar
//   u32[1024]  f32[64]=1.5  u32[4]=1,2,3,4         a buffer: zeros, one value, or a list that
//   repeats
//   @input.bin  u32@input.bin                      a buffer with the bytes of a file
//   …:print  …:save=result.bin                     after the launch
//   {u32=5;f32=1,2,3;u32[8]=1}                     a structure: its members, aligned as in C; a
//                                                  scalar member may be a list, a buffer is a
//                                                  pointer
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"

namespace barracuda::cli {

enum class ElementKind : std::uint8_t { kUnsigned, kSigned, kFloat, kBits };

struct ElementType {
  ElementKind kind = ElementKind::kBits;
  std::size_t bytes = 1;  // 1, 2, 4 or 8; floats 4 or 8
};

struct KernelArgument {
  ElementType type;
  bool is_buffer = false;
  bool is_unfilled = false;      // a buffer for which no values are given
  std::vector<std::byte> bytes;  // the scalar or structure, or what the buffer holds at first
  std::vector<KernelArgument> members;  // of a structure
  std::size_t offset = 0;               // of a member, in its structure
  std::uint64_t address = 0;            // of a buffer, on the device
  bool prints = false;
  std::string save_path;  // empty: not saved
};

// What the kernel's parameter takes: the value itself, or the address of a buffer.
std::size_t parameter_bytes(const KernelArgument& argument);

Expected<KernelArgument> parse_kernel_argument(const std::string& text);
// The argument without ":print" and ":save=".
std::string without_outputs(const std::string& text);

// "0: 1 2 3 …", 16 elements a line, each line with the number of its first element.
std::string elements_as_text(const ElementType& type, const std::vector<std::byte>& bytes);

}  // namespace barracuda::cli
