// A host that launches kernels of two pointers and copies, and what it need not log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "session/unlogged_accesses.h"

namespace barracuda::session {

using detector::CopyId;
using detector::LaunchId;
using detector::StreamKey;

inline constexpr std::uint64_t kNowhere = std::uint64_t{1} << 40;  // no allocation
inline constexpr std::uint64_t kIn = 0x10000, kOut = 0x20000, kOther = 0x30000, kBytes = 0x1000;
inline constexpr std::uint64_t kStream = 100, kSecond = 101;

inline Options options_with(const std::string& filter) {
  Options options;
  options.filter = filter;
  return options;
}

// Kernels of two pointers, the second of which is written through.
struct Device {
  explicit Device(const Options& options_given = options_with("auto")) : options(options_given) {
    for (const std::uint64_t array : {kIn, kOut, kOther}) {
      allocations.add(array, kBytes, "cudaMalloc");
    }
    kernel.parameters = {{0, 8}, {8, 8}};
    kernel.writes = {.is_known = true, .arguments = {{1, 0}}};
  }

  // Thread t of a block reads word t of the first and writes word t of the second;
  void use_own_words() {
    using enum ptx::AddressOp;
    kernel.accesses.are_known = true;
    kernel.accesses.nodes = {{.op = kThread, .bytes = 4},
                             {.op = kWiden, .bytes = 8, .first = 0, .second = 0},
                             {.op = kConstant, .bytes = 8, .value = 4},
                             {.op = kMultiply, .bytes = 8, .first = 1, .second = 2}};
    for (std::uint32_t i = 0; i < 2; ++i) {
      kernel.accesses.nodes.push_back({.op = kArgument, .bytes = 8, .word = {.parameter = i}});
      kernel.accesses.nodes.push_back({.op = kAdd, .bytes = 8, .first = 3, .second = 4 + 2 * i});
      kernel.accesses.accesses.push_back({.leads = {.is_known = true, .arguments = {{i, 0}}},
                                          .form = 5 + 2 * i,
                                          .bytes = 4,
                                          .first_site = 40 + 3 * i,
                                          .sites = 2});
    }
  }

  // with this, thread t of the grid.
  void add_blocks() {
    using enum ptx::AddressOp;
    auto& nodes = kernel.accesses.nodes;
    for (ptx::AddressNode& node : nodes) {
      node.first += 4;
      node.second += 4;
    }
    nodes[0] = {.op = kAdd, .bytes = 4, .first = 3, .second = 2};
    nodes.insert(nodes.begin(), {{.op = kBlock, .bytes = 4},
                                 {.op = kBlockSize, .bytes = 4},
                                 {.op = kThread, .bytes = 4},
                                 {.op = kMultiply, .bytes = 4, .first = 0, .second = 1}});
    for (ptx::GlobalAccess& access : kernel.accesses.accesses) {
      access.form = *access.form + 4;
    }
  }

  UnloggedAccesses::LeftOut leave_out(StreamKey stream, std::uint64_t in, std::uint64_t out,
                                      bool is_programmatic = false) {
    const LaunchId id{++launches};
    const bool may_begin_early = is_programmatic && !kernel.waits_first;
    if (may_begin_early) {
      streams.launch_programmatic(stream, id, CopyId{++copies});
    } else {
      streams.launch(stream, id);
    }
    std::vector<std::byte> arguments(16);
    std::memcpy(arguments.data(), &in, 8);
    std::memcpy(arguments.data() + 8, &out, 8);
    return reads.begin({.id = id,
                        .stream = stream,
                        .kernel = kernel,
                        .arguments = arguments,
                        .variables = variables,
                        .is_programmatic = is_programmatic,
                        .may_begin_early = may_begin_early,
                        .grid = {.x = 2},
                        .block = {.x = 32},
                        .is_repeated = is_repeated,
                        .most_owner_bytes = most_owner_bytes});
  }

  wire::UnloggedMemory launch(StreamKey stream, std::uint64_t in, std::uint64_t out,
                              bool is_programmatic = false) {
    return leave_out(stream, in, out, is_programmatic).memory;
  }

  void copy_to(StreamKey stream, std::uint64_t address, bool is_written = true) {
    reads.begin({.id = streams.copy(stream, CopyId{++copies}).id,
                 .accesses = {{.address = address, .row_bytes = 16, .is_written = is_written}}});
  }

  [[nodiscard]] bool has_given_up() const { return !problems.sentences().empty(); }

  Options options;
  AllocationTable allocations;
  StreamTracker streams;
  Problems problems;
  ptx::Kernel kernel;
  std::vector<MemoryRange> variables;  // that it names
  bool is_repeated = false;            // as BegunLaunch has it
  std::uint64_t most_owner_bytes = kBytes * 4;
  std::uint32_t launches = 0, copies = 0;
  UnloggedAccesses reads{options, allocations, streams, problems, [](LaunchId) { return " (k)"; }};
};

}  // namespace barracuda::session
