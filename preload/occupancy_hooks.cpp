// How many blocks of a kernel run at once. With all the shared memory of a block the driver would
// answer that none does: the tool's word takes some of it. The program's own kernel is launched
// then (kernel_forms.h), of which there are as many as of one that takes a little less.
#include <algorithm>
#include <cstddef>

#include "preload/hook.h"
#include "preload/shared_limit.h"

namespace barracuda::preload {
namespace {

// Of what the program asks about: as much dynamic shared memory as the instrumented kernel may
// have.
std::size_t fitting(const HookScope& scope, CUfunction function, std::size_t bytes) {
  scope.run(Loss::kNothing, [&](session::Session& session) {
    const auto kernel = session.modules().find(handle_of(function));
    if (kernel != nullptr && bytes <= kernel->asked_shared) {
      bytes = std::min<std::size_t>(bytes, most_dynamic_shared(handle_of(function)));
    }
  });
  return bytes;
}

template <auto Hook>
CUresult ask_of_clusters(int* answer, CUfunction function, const CUlaunchConfig* config) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  if (config == nullptr) {
    return original(answer, function, config);
  }
  CUlaunchConfig asked = *config;
  asked.sharedMemBytes = static_cast<unsigned>(fitting(scope, function, config->sharedMemBytes));
  return original(answer, function, &asked);
}

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t dynamic_bytes) {
  static const OriginalOf<&cuOccupancyMaxActiveBlocksPerMultiprocessor> original;
  const HookScope scope;
  return original(blocks, function, threads, fitting(scope, function, dynamic_bytes));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads,
                                                              std::size_t dynamic_bytes,
                                                              unsigned flags) {
  static const OriginalOf<&cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags> original;
  const HookScope scope;
  return original(blocks, function, threads, fitting(scope, function, dynamic_bytes), flags);
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config) {
  return ask_of_clusters<&cuOccupancyMaxPotentialClusterSize>(blocks, function, config);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return ask_of_clusters<&cuOccupancyMaxActiveClusters>(clusters, function, config);
}

}  // namespace barracuda::preload
