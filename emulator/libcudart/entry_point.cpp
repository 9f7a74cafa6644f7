#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

constexpr unsigned kCudaVersion = 13000;

}  // namespace

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                             unsigned cuda_version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result) {
  cuuint64_t wanted = flags;
  if (flags == cudaEnableDefault && is_per_thread()) {
    wanted = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  }
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult status = driver_calls().cuGetProcAddress_v2(
      symbol, function, static_cast<int>(cuda_version), wanted, &found);
  if (result != nullptr) {
    *result = static_cast<cudaDriverEntryPointQueryResult>(found);
    return status == CUDA_ERROR_NOT_FOUND ? cudaSuccess : note(status);
  }
  return note(status);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return runtime::cudaGetDriverEntryPointByVersion(symbol, function, kCudaVersion, flags, result);
}

// The tables are private to NVIDIA's libraries.
cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t* /*id*/) {
  if (table != nullptr) {
    *table = nullptr;
  }
  return cudaErrorSymbolNotFound;
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {.x = x, .y = y, .z = z, .w = w, .f = kind};
}

}  // namespace barracuda::emulator::runtime
