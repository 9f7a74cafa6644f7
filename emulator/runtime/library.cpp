#include "emulator/runtime/driver_calls.h"

// Libraries and kernels are the driver's: the same handles and option numbers.
namespace barracuda::emulator::runtime {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
                                cudaLibraryOption* options, void** values, unsigned count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuLibraryLoadData(library, code, reinterpret_cast<CUjit_option*>(jit_options),
                                   jit_values, jit_count,
                                   reinterpret_cast<CUlibraryOption*>(options), values, count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file_name,
                                    cudaJitOption* jit_options, void** jit_values,
                                    unsigned jit_count, cudaLibraryOption* options, void** values,
                                    unsigned count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuLibraryLoadFromFile(
        library, file_name, reinterpret_cast<CUjit_option*>(jit_options), jit_values, jit_count,
        reinterpret_cast<CUlibraryOption*>(options), values, count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return run([&](const DriverCalls& calls) { return calls.cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuLibraryGetKernel(kernel, library, name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t library) {
  return run([&](const DriverCalls& calls) {
    return calls.cuLibraryEnumerateKernels(kernels, count, library);
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return run([&](const DriverCalls& calls) {
    return calls.cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}

cudaError_t cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return run([&](const DriverCalls& calls) {
    return calls.cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library,
                                          const char* name) {
  return run([&](const DriverCalls& calls) {
    return calls.cuLibraryGetUnifiedFunction(function, library, name);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return run([&](const DriverCalls& calls) {
    return calls.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel,
                                      device);
  });
}

}  // namespace barracuda::emulator::runtime
