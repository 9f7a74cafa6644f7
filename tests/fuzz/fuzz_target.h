// A target of libFuzzer: takes any bytes, and aborts where a promise about them does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's names
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
