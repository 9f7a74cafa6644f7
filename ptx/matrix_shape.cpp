#include "ptx/matrix_shape.h"

#include <array>
#include <charconv>
#include <string_view>

namespace barracuda::ptx {
namespace {

// "m16n16k8"
std::optional<MatrixShape> read_shape(std::string_view text) {
  MatrixShape shape;
  const std::array<std::uint32_t*, 3> sizes = {&shape.m, &shape.n, &shape.k};
  constexpr std::string_view kLetters = "mnk";
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (at == end || *at != kLetters[i]) {
      return std::nullopt;
    }
    const auto [next, error] = std::from_chars(at + 1, end, *sizes[i]);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    at = next;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

}  // namespace

std::optional<MatrixShape> matrix_shape(const Instruction& instruction) {
  for (const std::string_view modifier : instruction.modifiers) {
    if (const auto shape = read_shape(modifier)) {
      return shape;
    }
  }
  return std::nullopt;
}

}  // namespace barracuda::ptx
