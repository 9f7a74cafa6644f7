#include "emulator/runtime/driver_calls.h"

// Pools, their properties and attributes are the driver's: the same layouts and numbers.
namespace barracuda::emulator::runtime {

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));

cudaError_t cudaMallocAsync(void** result, std::size_t bytes, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(result), bytes, stream_of(stream));
  });
}

cudaError_t cudaMallocFromPoolAsync(void** result, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(result), bytes, pool,
                                         stream_of(stream));
  });
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return address == nullptr ? CUDA_SUCCESS
                              : calls.cuMemFreeAsync(device_pointer(address), stream_of(stream));
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* result, const cudaMemPoolProps* properties) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemPoolCreate(result, reinterpret_cast<const CUmemPoolProps*>(properties));
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return run([&](const DriverCalls& calls) { return calls.cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  return run([&](const DriverCalls& calls) { return calls.cuMemPoolTrimTo(pool, keep); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 std::size_t count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(access), count);
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool,
                                    reinterpret_cast<CUmemLocation*>(location));
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* result, int device) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuDeviceGetDefaultMemPool(result, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* result, int device) {
  return run([&](const DriverCalls& calls) { return calls.cuDeviceGetMemPool(result, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return run([&](const DriverCalls& calls) { return calls.cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemGetDefaultMemPool(pool, reinterpret_cast<CUmemLocation*>(location),
                                        static_cast<CUmemAllocationType>(type));
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemGetMemPool(pool, reinterpret_cast<CUmemLocation*>(location),
                                 static_cast<CUmemAllocationType>(type));
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemSetMemPool(reinterpret_cast<CUmemLocation*>(location),
                                 static_cast<CUmemAllocationType>(type), pool);
  });
}

}  // namespace barracuda::emulator::runtime
