#include "fatbin/decompress.h"

#include <catch2/catch.hpp>

namespace barracuda::fatbin {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::size_t size) {
  std::string text;
  for (std::size_t index = 0; text.size() < size; ++index) {
    text += "add.s32 %r" + std::to_string(index) + ";\n";
  }
  text.resize(size);
  return text;
}

constexpr Compression kPacked[] = {Compression::kLz4, Compression::kZstd};

TEST_CASE("what is compressed comes back") {
  for (const Compression compression : kPacked) {
    for (const std::size_t size : {0U, 1U, 100U, 200'000U}) {
      const std::string text = text_of(size);
      const std::string packed = compress(text, compression).value();
      CHECK(decompress(bytes_of(packed), compression, size) == text);
    }
  }
  CHECK(decompress(bytes_of("abc"), Compression::kStored, 0) == "abc");
}

TEST_CASE("text that compresses as well as can be is still believed") {
  const std::string zeros(50'000'000, '\0');
  for (const Compression compression : kPacked) {
    const std::string packed = compress(zeros, compression).value();
    CHECK(decompress(bytes_of(packed), compression, zeros.size()) == zeros);
  }
}

TEST_CASE("a size that is not the data's is an error, whichever way it is wrong") {
  const std::string text = text_of(1000);
  for (const Compression compression : kPacked) {
    const std::string packed = compress(text, compression).value();
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{999}, std::uint64_t{1001}, std::uint64_t{1} << 20,
          std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      const auto result = decompress(bytes_of(packed), compression, size);
      REQUIRE_FALSE(result);
      CHECK_THAT(result.error().message,
                 Catch::StartsWith("the " + std::string(name_of(compression)) +
                                   " data of a fat binary entry is damaged: "));
    }
  }
}

TEST_CASE("data that is cut off or is none is an error") {
  const std::string text = text_of(1000);
  for (const Compression compression : kPacked) {
    const std::string packed = compress(text, compression).value();
    for (const std::size_t size : {std::size_t{0}, packed.size() / 2, packed.size() - 1}) {
      CHECK_FALSE(decompress(bytes_of(packed).first(size), compression, text.size()));
    }
    CHECK_FALSE(decompress(bytes_of("this is plain text"), compression, 1000));
  }
}

}  // namespace
}  // namespace barracuda::fatbin
