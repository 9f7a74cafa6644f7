// A kernel as a litmus test: each thread is run for every value that its reads may return, and what
// it then does is written down as a tree of accesses. Values are numbers, locations are literal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/literal_kernel.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

inline constexpr std::size_t kMostKernelThreads = 8;  // that touch memory which others touch too

struct KernelThread {
  std::array<std::uint32_t, 3> block{}, thread{};

  friend auto operator<=>(const KernelThread&, const KernelThread&) = default;
};

// What is asked of how a kernel ends. In `condition` a location's number is that of `named`.
struct KernelQuestion {
  Condition condition;
  std::vector<ptx::LiteralElement> named;
  bool shows_all = false;  // all of memory that the kernel writes is shown
};

// 'out[0]==1 && !(x[1] != 2 || flag == 0)', with the names of the kernel's memory.
Expected<Condition> read_kernel_condition(std::string_view text, const ptx::LiteralKernel& kernel,
                                          std::vector<ptx::LiteralElement>& named);

struct KernelReading {
  LitmusTest test;
  std::string bound;        // that was hit: "4 rounds of a loop"; empty: none
  bool is_useless = false;  // the bound leaves nothing that could be explored
  // Threads that are left out because no other thread can see what they do.
  std::uint64_t threads_left_out = 0;
  // Lines of plain stores and loads of flags that are taken as relaxed, of their fence's scope: PTX
  // has no synchronisation by plain accesses, and the detector excuses them (RACE_RULES.md
  // section 2).
  std::vector<std::uint32_t> promoted;
  // Threads of a block pass different barriers: only models without states know what then is.
  bool has_uneven_barriers = false;
};

// `threads`: those that are looked at; none: all of the launch. Where it is asked whether the
// kernel always ends (ExploreOptions::progress), those that may wait stay in it as well. Errors:
// what cannot be explored, with the line.
Expected<KernelReading> read_kernel(const ptx::LiteralKernel& kernel,
                                    const KernelQuestion& question,
                                    const std::vector<KernelThread>& threads,
                                    const ExploreOptions& options);

}  // namespace barracuda::memory_model
