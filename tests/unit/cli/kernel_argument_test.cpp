#include "cli/kernel_argument.h"

#include <cstring>
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

KernelArgument parsed(const std::string& text) {
  auto argument = parse_kernel_argument(text);
  INFO(text << ": " << (argument ? "" : argument.error().message));
  REQUIRE(argument);
  return std::move(*argument);
}

template <typename Value>
std::vector<Value> values_of(const KernelArgument& argument) {
  std::vector<Value> values(argument.bytes.size() / sizeof(Value));
  std::memcpy(values.data(), argument.bytes.data(), argument.bytes.size());
  return values;
}

TEST_CASE("a scalar has the bytes of its type") {
  CHECK(values_of<std::uint32_t>(parsed("u32=5")) == std::vector<std::uint32_t>{5});
  CHECK(values_of<std::int64_t>(parsed("s64=-1")) == std::vector<std::int64_t>{-1});
  CHECK(values_of<std::uint16_t>(parsed("b16=0x3c00")) == std::vector<std::uint16_t>{0x3c00});
  CHECK(values_of<float>(parsed("f32=-0.5")) == std::vector<float>{-0.5F});
  CHECK(values_of<double>(parsed("f64=1e300")) == std::vector<double>{1e300});
  CHECK_FALSE(parsed("u8=255").is_buffer);
}

TEST_CASE("a buffer holds zeros, a value, or a list that repeats") {
  const KernelArgument zeros = parsed("u32[3]");
  CHECK(zeros.is_buffer);
  CHECK(values_of<std::uint32_t>(zeros) == std::vector<std::uint32_t>{0, 0, 0});
  CHECK(values_of<float>(parsed("f32[2]=1.5")) == std::vector<float>{1.5F, 1.5F});
  CHECK(values_of<std::int16_t>(parsed("s16[5]=1,-2")) ==
        std::vector<std::int16_t>{1, -2, 1, -2, 1});
}

TEST_CASE("a structure has its members where C places them, and its size") {
  struct Inner {
    std::uint8_t flag = 1;
    double scale = 0.5;
  };

  struct Outer {
    std::uint16_t first = 7;
    Inner inner;
    std::int32_t list[3] = {1, -2, 3};
    float* values = nullptr;
    std::uint8_t last = 9;
  };

  const KernelArgument argument =
      parsed("{u16=7; {u8=1;f64=0.5}; s32=1,-2,3; f32[2]=1.5:print; u8=9}");
  CHECK_FALSE(argument.is_buffer);
  REQUIRE(argument.bytes.size() == sizeof(Outer));
  Outer outer;
  std::memcpy(&outer, argument.bytes.data(), sizeof outer);
  CHECK(outer.first == 7);
  CHECK(outer.inner.flag == 1);
  CHECK(outer.inner.scale == 0.5);
  CHECK(outer.list[1] == -2);
  CHECK(outer.values == nullptr);
  CHECK(outer.last == 9);
  REQUIRE(argument.members.size() == 5);
  CHECK(argument.members[3].is_buffer);
  CHECK(argument.members[3].offset == offsetof(Outer, values));
  CHECK(argument.members[3].prints);
  CHECK(parsed("{b8=0x01,2,3}").bytes.size() == 3);
}

TEST_CASE("a buffer without values is told from one of zeros") {
  CHECK(parsed("u32[4]:print").is_unfilled);
  CHECK_FALSE(parsed("u32[4]=0").is_unfilled);
}

TEST_CASE("a buffer can be printed and saved, a scalar cannot") {
  CHECK(parsed("u8[4]:print").prints);
  CHECK(parsed("u8[4]=7:print:save=a:b.bin").save_path == "a:b.bin");
  CHECK(parsed("u8[4]=7:print:save=x").prints);
  CHECK_FALSE(parse_kernel_argument("u8=1:print"));
  CHECK_FALSE(parse_kernel_argument("u8=1:save=x"));
}

TEST_CASE("a buffer's bytes can come from a file") {
  const ScratchFolder folder;
  const std::string path = folder / "values";
  REQUIRE(write_file(path, "abcd"));
  const KernelArgument argument = parsed("u16@" + path + ":print");
  CHECK(argument.is_buffer);
  CHECK(argument.type.bytes == 2);
  CHECK(values_of<char>(argument) == std::vector<char>{'a', 'b', 'c', 'd'});
  REQUIRE(write_file(path, ""));
  CHECK_FALSE(parse_kernel_argument("@" + path));
  std::filesystem::remove(path);
  CHECK_FALSE(parse_kernel_argument("@" + path));
}

TEST_CASE("what does not fit its type is refused, with the argument named") {
  for (const char* const text :
       {"",       "u32",        "u32=",      "u32=x",    "u32=-1",   "u8=256",
        "s8=128", "f16=1",      "u32=1,2",   "u32[0]",   "u32[",     "u32[2",
        "u32[x]", "u32[1]=1,2", "u32[4]=1,", "b32=0x",   "f32=1.5f", "u64[9999999999999]",
        "{",      "{}",         "{u32=1",    "{u32=1;}", "{f16=1}"}) {
    const auto argument = parse_kernel_argument(text);
    CAPTURE(text);
    REQUIRE_FALSE(argument);
    CHECK(argument.error().message.find(std::string("--arg ") + text) == 0);
  }
}

TEST_CASE("an argument without what becomes of it is the same argument") {
  CHECK(without_outputs("u32[4]=1,2:print") == "u32[4]=1,2");
  CHECK(without_outputs("@in.bin:save=out.bin") == "@in.bin");
  CHECK(without_outputs("u32[4]:print:save=out") == "u32[4]");
  CHECK(without_outputs("f32=1.5") == "f32=1.5");
}

TEST_CASE("elements are printed sixteen a line, in their type") {
  const KernelArgument many = parsed("u8[17]=1");
  CHECK(elements_as_text(many.type, many.bytes) == "0: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n16: 1\n");
  const KernelArgument bits = parsed("b16[2]=0xff,1");
  CHECK(elements_as_text(bits.type, bits.bytes) == "0: 0x00ff 0x0001\n");
  const KernelArgument real = parsed("f64[1]=0.25");
  CHECK(elements_as_text(real.type, real.bytes) == "0: 0.25\n");
}

}  // namespace
}  // namespace barracuda::cli
