#include "emulator/libcuda/module/occupancy.h"

#include <algorithm>

#include "base/align.h"
#include "base/early_return.h"
#include "emulator/libcuda/context/device.h"

namespace barracuda::emulator::driver {
namespace {

constexpr std::uint64_t kMaxClusterBlocks = 8;
constexpr std::uint64_t kWarpThreads = 32;

std::uint64_t attribute(CUdevice_attribute name) {
  return static_cast<std::uint64_t>(device_attribute(name));
}

CUresult find(CUfunction handle, std::shared_ptr<Function>& function) {
  RETURN_IF_FAILED(require_context());
  function = find_function_handle(handle);
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

}  // namespace

int blocks_per_multiprocessor(const Function& function, std::uint64_t threads,
                              std::size_t dynamic_shared) {
  if (threads == 0 || threads > function.attributes.max_threads) {
    return 0;
  }
  std::uint64_t blocks = std::min(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                                  attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) /
                                      align_up(threads, kWarpThreads));
  const std::uint64_t shared = function.attributes.static_shared_bytes + dynamic_shared +
                               attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  blocks = std::min(blocks,
                    attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / shared);
  return static_cast<int>(blocks);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle,
                                                              int threads,
                                                              std::size_t dynamic_shared,
                                                              unsigned /*flags*/) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find(handle, function));
  RETURN_IF(blocks == nullptr || threads <= 0, CUDA_ERROR_INVALID_VALUE);
  *blocks =
      blocks_per_multiprocessor(*function, static_cast<std::uint64_t>(threads), dynamic_shared);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction handle,
                                                   CUoccupancyB2DSize dynamic_shared_of,
                                                   std::size_t dynamic_shared, int limit,
                                                   unsigned /*flags*/) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find(handle, function));
  RETURN_IF(grid == nullptr || block == nullptr, CUDA_ERROR_INVALID_VALUE);
  int largest = static_cast<int>(function->attributes.max_threads);
  if (limit > 0) {
    largest = std::min(largest, limit);
  }
  int best_threads = 0;
  *grid = 0;
  *block = 0;
  // The largest block of those that keep most threads on the multiprocessor.
  for (int threads = align_up(largest, 32); threads > 0; threads -= 32) {
    const int size = std::min(threads, largest);
    const std::size_t shared =
        dynamic_shared_of == nullptr ? dynamic_shared : dynamic_shared_of(size);
    const int blocks =
        blocks_per_multiprocessor(*function, static_cast<std::uint64_t>(size), shared);
    if (blocks * size > best_threads) {
      best_threads = blocks * size;
      *block = size;
      *grid = blocks * device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction handle, int blocks,
                                                 int threads) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find(handle, function));
  RETURN_IF(bytes == nullptr || blocks <= 0 || threads <= 0, CUDA_ERROR_INVALID_VALUE);
  const std::uint64_t share = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) /
                              static_cast<std::uint64_t>(blocks);
  const std::uint64_t taken = function->attributes.static_shared_bytes +
                              attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  *bytes = share < taken ? 0
                         : std::min(share - taken,
                                    attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* cluster, CUfunction handle,
                                            const CUlaunchConfig* config) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find(handle, function));
  RETURN_IF(cluster == nullptr || config == nullptr, CUDA_ERROR_INVALID_VALUE);
  *cluster = static_cast<int>(kMaxClusterBlocks);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                      const CUlaunchConfig* config) {
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(find(handle, function));
  RETURN_IF(clusters == nullptr || config == nullptr, CUDA_ERROR_INVALID_VALUE);
  std::uint64_t cluster_blocks = 1;
  for (unsigned index = 0; index < config->numAttrs; ++index) {
    if (config->attrs[index].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& dimension = config->attrs[index].value.clusterDim;
      cluster_blocks = std::uint64_t{dimension.x} * dimension.y * dimension.z;
    }
  }
  RETURN_IF(cluster_blocks == 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  const std::uint64_t threads =
      std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
  const std::uint64_t blocks = static_cast<std::uint64_t>(blocks_per_multiprocessor(
                                   *function, threads, config->sharedMemBytes)) *
                               attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  *clusters = static_cast<int>(blocks / cluster_blocks);
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
