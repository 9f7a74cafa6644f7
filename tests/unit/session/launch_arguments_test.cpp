#include "session/launch_arguments.h"

#include <cstring>

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

ptx::Kernel kernel_with(std::vector<ptx::ParameterPlace> parameters, std::uint32_t hidden) {
  return {.name = "k",
          .parameters = std::move(parameters),
          .hidden_parameter_offset = hidden,
          .instrumented = true};
}

std::uint64_t value_at(const void* memory) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

TEST_CASE("the descriptor follows the program's pointers") {
  const ptx::Kernel kernel = kernel_with({{0, 8}, {8, 4}}, 16);
  std::uint64_t first = 11;
  std::uint32_t second = 12;
  void* parameters[] = {&first, &second};
  LaunchArguments arguments(kernel, parameters, nullptr, {.descriptor = 0xABCD});
  CHECK(arguments.parameters()[0] == &first);
  CHECK(arguments.parameters()[1] == &second);
  CHECK(value_at(arguments.parameters()[2]) == 0xABCD);
  CHECK(arguments.extra() == nullptr);
  CHECK(arguments.packed() == nullptr);
}

TEST_CASE("a kernel without parameters gets one") {
  const ptx::Kernel kernel = kernel_with({}, 0);
  LaunchArguments arguments(kernel, nullptr, nullptr, {.descriptor = 5});
  REQUIRE(arguments.parameters() != nullptr);
  CHECK(value_at(arguments.parameters()[0]) == 5);
}

TEST_CASE("missing parameters stay missing") {
  const ptx::Kernel kernel = kernel_with({{0, 8}}, 8);
  LaunchArguments arguments(kernel, nullptr, nullptr, {.descriptor = 5});
  CHECK(arguments.parameters() == nullptr);
}

TEST_CASE("a parameter buffer grows to the hidden parameter, whatever size the program gave") {
  const ptx::Kernel kernel = kernel_with({{0, 8}, {8, 4}}, 16);
  const std::size_t size = GENERATE(std::size_t{12}, std::size_t{16}, std::size_t{40});
  std::vector<std::byte> buffer(size, std::byte{0x11});
  std::size_t buffer_size = size;
  // Either order of the keys is allowed.
  void* extra[] = {reinterpret_cast<void*>(kParameterBufferSize), &buffer_size,
                   reinterpret_cast<void*>(kParameterBufferPointer), buffer.data(), nullptr};
  LaunchArguments arguments(kernel, nullptr, extra, {.descriptor = 0xABCD});
  CHECK(arguments.parameters() == nullptr);
  void** const made = arguments.extra();
  REQUIRE(reinterpret_cast<std::uintptr_t>(made[0]) == kParameterBufferPointer);
  REQUIRE(reinterpret_cast<std::uintptr_t>(made[2]) == kParameterBufferSize);
  CHECK(value_at(made[3]) == 24);
  CHECK(made[4] == nullptr);
  CHECK(std::memcmp(made[1], buffer.data(), 12) == 0);
  CHECK(value_at(static_cast<std::byte*>(made[1]) + 16) == 0xABCD);
  CHECK(buffer_size == size);
}

TEST_CASE("ranges of shortcuts follow the descriptor, where the kernel has any") {
  ptx::Kernel kernel = kernel_with({{0, 8}}, 8);
  kernel.shortcuts.resize(1);
  std::uint64_t first = 11;
  void* parameters[] = {&first};
  const wire::HiddenArgument hidden{.descriptor = 0xABCD,
                                    .shortcuts = {{.address = 1}, {.bytes = 2}}};
  LaunchArguments pointers(kernel, parameters, nullptr, hidden);
  CHECK(std::memcmp(pointers.parameters()[1], &hidden, sizeof hidden) == 0);
  std::size_t size = 8;
  void* extra[] = {reinterpret_cast<void*>(kParameterBufferPointer), &first,
                   reinterpret_cast<void*>(kParameterBufferSize), &size, nullptr};
  LaunchArguments bytes(kernel, nullptr, extra, hidden);
  CHECK(value_at(bytes.extra()[3]) == 8 + sizeof hidden);
  CHECK(std::memcmp(static_cast<std::byte*>(bytes.extra()[1]) + 8, &hidden, sizeof hidden) == 0);
}

TEST_CASE("unchanged arguments are the program's own") {
  void* parameters[1] = {};
  void* extra[1] = {};
  LaunchArguments arguments(parameters, extra);
  CHECK(arguments.parameters() == parameters);
  CHECK(arguments.extra() == extra);
}

}  // namespace
}  // namespace barracuda::session
