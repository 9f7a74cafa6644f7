// A program that uses the driver API only: driver_api FILE.ptx loads a kernel `count` and launches
// it.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <cuda.h>

namespace {

void check(CUresult result, const char* expression) {
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    std::fprintf(stderr, "%s: %s\n", expression, text != nullptr ? text : "unknown error");
    std::exit(1);
  }
}

}  // namespace

#define CHECK(expression) check((expression), #expression)

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: driver_api FILE.ptx\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream ptx;
  ptx << file.rdbuf();
  CHECK(cuInit(0));
  CUdevice device = 0;
  CHECK(cuDeviceGet(&device, 0));
  CUcontext context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, ptx.str().c_str()));
  CUfunction count = nullptr;
  CHECK(cuModuleGetFunction(&count, module, "count"));
  CUdeviceptr counter = 0;
  CHECK(cuMemAlloc(&counter, sizeof(int)));
  CHECK(cuMemsetD32(counter, 0, 1));
  void* parameters[] = {&counter};
  CHECK(cuLaunchKernel(count, 16, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  int result = 0;
  CHECK(cuMemcpyDtoH(&result, counter, sizeof result));
  // The same launch with a packed parameter buffer.
  std::size_t size = sizeof counter;
  void* packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &counter, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(count, 16, 1, 1, 1, 1, 1, 0, nullptr, nullptr, packed));
  CHECK(cuMemcpyDtoH(&result, counter, sizeof result));
  CHECK(cuMemFree(counter));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  std::printf("%s result %d\n", result == 32 ? "ok" : "wrong", result);
  return 0;
}
