// The start-up test of CommitMode::kSelfValidating: a kernel stores 16-byte cells as the logger
// does while the host looks whether it ever sees a part of one. Every word of a cell is the same
// number in any store, so a cell whose words differ was torn.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/record.h"

namespace barracuda::wire {

inline constexpr std::uint32_t kCommitProbeBlocks = 8;
inline constexpr std::uint32_t kCommitProbeThreads = 128;
inline constexpr std::size_t kCommitProbeCells =
    std::size_t{kCommitProbeBlocks} * kCommitProbeThreads;
inline constexpr std::size_t kCommitProbeBytes = kCommitProbeCells * kHalfBytes;

static_assert(kHalfBytes % sizeof(std::uint32_t) == 0, "a cell is words of the round's number");

// Parameters: u64 address of the cells, u32 rounds. Round r stores r.
inline constexpr const char kCommitProbeKernel[] = "__barracuda_commit_probe";

// A whole module. Static storage.
const char* commit_probe_ptx();

}  // namespace barracuda::wire
