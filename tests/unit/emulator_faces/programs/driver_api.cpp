// A program of the driver API alone: PTX from a file, or a fat binary, a module and a library.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <cuda.h>

#include "check.h"

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  std::ifstream file(argv[1]);
  const std::string image((std::istreambuf_iterator<char>(file)), {});
  CUdevice device;
  CUcontext context;
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  EXPECT(cuDeviceGet(&device, 3) == CUDA_ERROR_INVALID_DEVICE);
  EXPECT(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  CUmodule module;
  EXPECT(cuModuleLoadData(&module, "not an image") != CUDA_SUCCESS);
  EXPECT(cuModuleLoadData(&module, image.c_str()) == CUDA_SUCCESS);
  CUfunction function;
  EXPECT(cuModuleGetFunction(&function, module, "no_such_kernel") == CUDA_ERROR_NOT_FOUND);
  EXPECT(cuModuleGetFunction(&function, module, "scale") == CUDA_SUCCESS);
  CUdeviceptr cells;
  EXPECT(cuMemAlloc(&cells, 64 * sizeof(int)) == CUDA_SUCCESS);
  EXPECT(cuMemsetD32(cells, 5, 64) == CUDA_SUCCESS);
  int count = 64, factor = 3;
  void* parameters[] = {&cells, &count, &factor};
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) ==
         CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == CUDA_SUCCESS);
  int host[64];
  EXPECT(cuMemcpyDtoH(host, cells, sizeof host) == CUDA_SUCCESS);
  EXPECT(host[0] == 15 && host[63] == 15);

  struct {
    CUdeviceptr cells;
    int count, factor;
  } packed = {cells, 64, 2};

  size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(host, cells, sizeof host) == CUDA_SUCCESS && host[9] == 30);

  CUdeviceptr variable;
  EXPECT(cuModuleGetGlobal(&variable, &bytes, module, "offset") == CUDA_SUCCESS && bytes == 4);
  EXPECT(cuModuleUnload(module) == CUDA_SUCCESS);
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) ==
         CUDA_ERROR_INVALID_HANDLE);

  CUlibrary library;
  CUkernel kernel;
  EXPECT(cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
         CUDA_SUCCESS);
  EXPECT(cuLibraryGetKernel(&kernel, library, "scale") == CUDA_SUCCESS);
  EXPECT(cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS);
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) ==
         CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(host, cells, sizeof host) == CUDA_SUCCESS && host[9] == 90);
  EXPECT(cuLibraryUnload(library) == CUDA_SUCCESS);

  // No multicast objects, so that no address is one that multimem takes; a program may ask first.
  int has_multicast = 1;
  size_t granularity = 0;
  const CUmulticastObjectProp one_device{1, 1 << 21, CU_MEM_HANDLE_TYPE_NONE, 0};
  CUmemGenericAllocationHandle multicast;
  EXPECT(cuDeviceGetAttribute(&has_multicast, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, device) ==
             CUDA_SUCCESS &&
         has_multicast == 0);
  EXPECT(cuMulticastGetGranularity(&granularity, &one_device, CU_MULTICAST_GRANULARITY_MINIMUM) ==
         CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(cuMulticastCreate(&multicast, &one_device) == CUDA_ERROR_NOT_SUPPORTED);

  const char* text = nullptr;
  EXPECT(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text) == CUDA_SUCCESS);
  EXPECT(std::strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
  EXPECT(cuMemFree(cells) == CUDA_SUCCESS);
  EXPECT(cuMemFree(cells) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuCtxDestroy(context) == CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
  std::puts("ok");
}
