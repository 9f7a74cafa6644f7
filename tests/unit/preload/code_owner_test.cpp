#include "preload/code_owner.h"

#include <catch2/catch.hpp>

namespace barracuda::preload {
namespace {

constexpr const char kInThisFile[] = "/home/u/";

TEST_CASE("a loader with a compiler inside is named, with what makes it call ptxas") {
  CHECK_THAT(advice_on_code(std::string_view("/x/xla_cuda_plugin.so")),
             Catch::Contains("xla_cuda_plugin.so has a compiler") && Catch::Contains("XLA_FLAGS="));
  CHECK(advice_on_code(std::string_view("/x/libcudart.so.13")).empty());
  CHECK(advice_on_code(std::string_view()).empty());
}

TEST_CASE("code of this process is known by where it lies") {
  CHECK(library_of_code(&kInThisFile, nullptr).empty());
  const std::string text = "in memory";
  CHECK(library_of_code(text.data(), nullptr).empty());
}

}  // namespace
}  // namespace barracuda::preload
