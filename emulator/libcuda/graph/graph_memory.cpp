#include "emulator/libcuda/graph/graph_memory.h"

#include <algorithm>
#include <cstring>

#include "base/early_return.h"

namespace barracuda::emulator::driver {
namespace {

std::atomic<std::uint64_t> g_used{0}, g_used_high{0};

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::allocate(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters,
                                                   CUresult& status) {
  AllocationEntry entry{.kind = AllocationKind::kDevice,
                        .bytes = parameters.bytesize,
                        .owner = AllocationOwner::kGraph};
  status = driver::allocate(entry);
  if (status != CUDA_SUCCESS) {
    return nullptr;
  }
  return std::shared_ptr<GraphMemory>(new GraphMemory(parameters, entry));
}

GraphMemory::GraphMemory(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters, const AllocationEntry& entry)
    : parameters_(parameters),
      access_(parameters.accessDescs, parameters.accessDescs + parameters.accessDescCount),
      entry_(entry) {
  parameters_.accessDescs = access_.data();
  parameters_.dptr = entry.address;
  g_used += entry.bytes;
  g_used_high = std::max(g_used_high.load(), g_used.load());
}

GraphMemory::~GraphMemory() {
  give_back(entry_);
  g_used -= entry_.bytes;
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return device == 0 ? require_initialized() : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  RETURN_IF(value == nullptr || attribute < CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT ||
                attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
            CUDA_ERROR_INVALID_VALUE);
  const bool is_current = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT ||
                          attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT;
  const cuuint64_t bytes = is_current ? g_used : g_used_high;
  std::memcpy(value, &bytes, sizeof bytes);
  return CUDA_SUCCESS;
}

// High water marks can be set to zero, which means: to what is in use.
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  const bool is_settable = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                           attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  cuuint64_t bytes = 0;
  if (value != nullptr) {
    std::memcpy(&bytes, value, sizeof bytes);
  }
  RETURN_IF(value == nullptr || !is_settable || bytes != 0, CUDA_ERROR_INVALID_VALUE);
  g_used_high = g_used.load();
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
