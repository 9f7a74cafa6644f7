// A program that compiles its kernel with NVRTC: nvrtc race|fixed.
// expect race: race inter-block global
// expect fixed: none
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <cuda_runtime.h>
#include <nvrtc.h>

namespace {

constexpr const char* kRace = R"(extern "C" __global__ void count(int* counter) {
  *counter = *counter + 1;  // RACE
})";
constexpr const char* kFixed = R"(extern "C" __global__ void count(int* counter) {
  atomicAdd(counter, 1);
})";

void check(bool good, const char* expression) {
  if (!good) {
    std::fprintf(stderr, "%s failed\n", expression);
    std::exit(1);
  }
}

std::string compile(const char* source) {
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source, "count.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS,
        "nvrtcCreateProgram");
  const char* options[] = {"--gpu-architecture=compute_75", "-lineinfo"};
  check(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS, "nvrtcCompileProgram");
  std::size_t size = 0;
  check(nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS, "nvrtcGetPTXSize");
  std::string ptx(size, '\0');
  check(nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS, "nvrtcGetPTX");
  nvrtcDestroyProgram(&program);
  return ptx;
}

}  // namespace

int main(int argc, char** argv) {
  const bool fixed = argc > 1 && std::string_view(argv[1]) == "fixed";
  const std::string ptx = compile(fixed ? kFixed : kRace);
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof(int)) == cudaSuccess, "cudaMalloc");
  check(cudaMemset(counter, 0, sizeof(int)) == cudaSuccess, "cudaMemset");
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            cudaSuccess,
        "cudaLibraryLoadData");
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, "count") == cudaSuccess, "cudaLibraryGetKernel");
  void* parameters[] = {&counter};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(16), dim3(1), parameters, 0,
                         nullptr) == cudaSuccess,
        "cudaLaunchKernel");
  int result = 0;
  check(cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess,
        "cudaMemcpy");
  std::printf("%s result %d\n", result == 16 ? "ok" : "wrong", result);
  return 0;
}
