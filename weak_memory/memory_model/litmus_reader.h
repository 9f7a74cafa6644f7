// Reads the PTX dialect of herd's .litmus files (docs/MODELS.md has the grammar).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

// In Dat3M's dialect a location need not be declared: one that only accesses name begins as zero.
enum class Dialect : std::uint8_t { kOwn, kDat3m };

// `file` is for the places in errors.
Expected<LitmusTest> read_litmus(std::string_view text, const std::string& file,
                                 Dialect dialect = Dialect::kOwn);

}  // namespace barracuda::memory_model
