#include "report/remedies.h"

#include <fmt/format.h>

#include "report/python_name.h"

namespace barracuda::report {
namespace {

constexpr RemedyNames kCuda{.block_barrier = "__syncthreads()",
                            .warp_barrier = "__syncwarp()",
                            .fence = "__threadfence()",
                            .system_fence = "__threadfence_system()",
                            .update = "atomicAdd()",
                            .event = "cudaEventRecord(), cudaStreamWaitEvent()"};
constexpr RemedyNames kNumba{.block_barrier = "cuda.syncthreads()",
                             .warp_barrier = "cuda.syncwarp()",
                             .fence = "cuda.threadfence()",
                             .system_fence = "cuda.threadfence_system()",
                             .update = "cuda.atomic.add()",
                             .event = "event.record(), event.wait()"};
// Threads and fences are the compiler's there: a program orders what it does with another one by
// atomics alone. Events are those of the framework around it.
constexpr RemedyNames kTriton{.block_barrier = "tl.debug_barrier()",
                              .warp_barrier = "tl.debug_barrier()",
                              .fence = "an atomic with sem=\"acq_rel\"",
                              .system_fence = "an atomic with scope=\"sys\"",
                              .update = "tl.atomic_add()",
                              .event = kCuda.event,
                              .are_of_triton = true};

}  // namespace

// numba's kernels have parameters in their names, and Triton's none.
const RemedyNames& names_for(const Access& access) {
  const bool is_python = access.place.file.ends_with(".py");
  if (is_numba_name(access.kernel) ||
      (is_python && (access.kernel.empty() || access.kernel.ends_with(')')))) {
    return kNumba;
  }
  return is_python ? kTriton : kCuda;
}

const char* event_names(bool is_numba) {
  return is_numba ? kNumba.event : kCuda.event;
}

const char* verb_of(const Access& access) {
  return access.operation == AccessOperation::kRead     ? "read"
         : access.operation == AccessOperation::kAtomic ? "atomic"
                                                        : "write";
}

std::string place_text(const Frame& place) {
  return place.line == 0 ? "" : fmt::format(" at {}:{}", place.file, place.line);
}

std::string both_fences_missing(const Access& first, const RemedyNames& names,
                                const std::string& flag) {
  return fmt::format(
      "{} is missing in two places: after the {} and before the flag or lock is written{}, and "
      "in the second thread between seeing the flag or lock and its access",
      names.fence, verb_of(first), flag);
}

}  // namespace barracuda::report
