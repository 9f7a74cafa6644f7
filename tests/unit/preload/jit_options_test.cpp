#include "preload/jit_options.h"

#include <cstdint>

#include <catch2/catch.hpp>

namespace barracuda::preload {
namespace {

using Flags = std::vector<std::string>;

JitOptions options(std::vector<std::pair<CUjit_option, std::uintptr_t>> pairs) {
  JitOptions all(nullptr, nullptr, 0);
  for (const auto& [name, value] : pairs) {
    all.set(name, reinterpret_cast<void*>(value));
  }
  return all;
}

}  // namespace

TEST_CASE("no JIT options ask for nothing") {
  CHECK(options({}).compiler_flags() == Flags{});
  CHECK(options({}).names() == nullptr);
}

TEST_CASE("what decides on code is asked of the compiler") {
  CHECK(options({{CU_JIT_MAX_REGISTERS, 32},
                 {CU_JIT_OPTIMIZATION_LEVEL, 2},
                 {CU_JIT_GENERATE_LINE_INFO, 1}})
            .compiler_flags() ==
        Flags{"--maxrregcount=32", "--opt-level=2", "--generate-line-info"});
  CHECK(options({{CU_JIT_MAX_REGISTERS, 0}, {CU_JIT_GENERATE_LINE_INFO, 0}}).compiler_flags() ==
        Flags{});
}

TEST_CASE("what decides on no code makes no difference") {
  CHECK(options({{CU_JIT_INFO_LOG_BUFFER, 4096},
                 {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 100},
                 {CU_JIT_ERROR_LOG_BUFFER, 8192},
                 {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 100},
                 {CU_JIT_TARGET_FROM_CUCONTEXT, 0},
                 {CU_JIT_LOG_VERBOSE, 0},
                 {CU_JIT_GENERATE_DEBUG_INFO, 0}})
            .compiler_flags() == Flags{});
}

TEST_CASE("what only the driver does is left to it") {
  for (const CUjit_option name :
       {CU_JIT_GENERATE_DEBUG_INFO, CU_JIT_LOG_VERBOSE, CU_JIT_CACHE_MODE, CU_JIT_WALL_TIME,
        CU_JIT_TARGET, CU_JIT_THREADS_PER_BLOCK, CU_JIT_FAST_COMPILE}) {
    CHECK_FALSE(options({{CU_JIT_MAX_REGISTERS, 32}, {name, 1}}).compiler_flags());
  }
}

TEST_CASE("a later load does not write into buffers of an earlier one") {
  JitOptions kept = options({{CU_JIT_INFO_LOG_BUFFER, 4096},
                             {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 100},
                             {CU_JIT_MAX_REGISTERS, 32},
                             {CU_JIT_ERROR_LOG_BUFFER, 8192},
                             {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 100}})
                        .without_places();
  REQUIRE(kept.count() == 1);
  CHECK(kept.names()[0] == CU_JIT_MAX_REGISTERS);
}

TEST_CASE("an option that is set again has its new value") {
  CHECK(
      options({{CU_JIT_OPTIMIZATION_LEVEL, 4}, {CU_JIT_OPTIMIZATION_LEVEL, 0}}).compiler_flags() ==
      Flags{"--opt-level=0"});
}

}  // namespace barracuda::preload
