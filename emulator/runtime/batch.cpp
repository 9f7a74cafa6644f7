#include "emulator/runtime/driver_calls.h"

// Many copies or hints in one call: the driver's, with the same descriptions.
namespace barracuda::emulator::runtime {

static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(sizeof(cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));

namespace {

CUdeviceptr* device_pointers(const void* const* pointers) {
  return reinterpret_cast<CUdeviceptr*>(const_cast<void**>(pointers));
}

}  // namespace

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* attribute_starts, std::size_t attribute_count,
                                 cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemcpyBatchAsync_v2(device_pointers(to), device_pointers(from),
                                       const_cast<std::size_t*>(sizes), count,
                                       reinterpret_cast<CUmemcpyAttributes*>(attributes),
                                       attribute_starts, attribute_count, stream_of(stream));
  });
}

cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* copies,
                                   unsigned long long flags, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemcpy3DBatchAsync_v2(count, reinterpret_cast<CUDA_MEMCPY3D_BATCH_OP*>(copies),
                                         flags, stream_of(stream));
  });
}

cudaError_t cudaMemPrefetchBatchAsync(void** addresses, std::size_t* sizes, std::size_t count,
                                      cudaMemLocation* locations, std::size_t* location_starts,
                                      std::size_t location_count, unsigned long long flags,
                                      cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemPrefetchBatchAsync(device_pointers(addresses), sizes, count,
                                         reinterpret_cast<CUmemLocation*>(locations),
                                         location_starts, location_count, flags, stream_of(stream));
  });
}

cudaError_t cudaMemDiscardBatchAsync(void** addresses, std::size_t* sizes, std::size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemDiscardBatchAsync(device_pointers(addresses), sizes, count, flags,
                                        stream_of(stream));
  });
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** addresses, std::size_t* sizes,
                                                std::size_t count, cudaMemLocation* locations,
                                                std::size_t* location_starts,
                                                std::size_t location_count,
                                                unsigned long long flags, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemDiscardAndPrefetchBatchAsync(
        device_pointers(addresses), sizes, count, reinterpret_cast<CUmemLocation*>(locations),
        location_starts, location_count, flags, stream_of(stream));
  });
}

cudaError_t cudaMemRangeGetAttribute(void* result, std::size_t result_bytes,
                                     cudaMemRangeAttribute attribute, const void* address,
                                     std::size_t bytes) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemRangeGetAttribute(result, result_bytes,
                                        static_cast<CUmem_range_attribute>(attribute),
                                        device_pointer(address), bytes);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** results, std::size_t* result_bytes,
                                      cudaMemRangeAttribute* attributes, std::size_t count,
                                      const void* address, std::size_t bytes) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemRangeGetAttributes(results, result_bytes,
                                         reinterpret_cast<CUmem_range_attribute*>(attributes),
                                         count, device_pointer(address), bytes);
  });
}

}  // namespace barracuda::emulator::runtime
