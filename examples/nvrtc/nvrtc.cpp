// A program that compiles its kernel with NVRTC: nvrtc race|fixed [ptx|machine-code|linked]. What
// it loads is the PTX, or machine code alone: NVRTC's own, or what nvJitLink made of the PTX.
// expect race: race inter-block global
// expect fixed: none
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
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

std::string compile(const char* source, const std::string& architecture, bool machine_code) {
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source, "count.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS,
        "nvrtcCreateProgram");
  const std::string option = "--gpu-architecture=" + architecture;
  const char* options[] = {option.c_str(), "-lineinfo"};
  check(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS, "nvrtcCompileProgram");
  std::size_t size = 0;
  check((machine_code ? nvrtcGetCUBINSize : nvrtcGetPTXSize)(program, &size) == NVRTC_SUCCESS,
        "the size of the compiled program");
  std::string code(size, '\0');
  check((machine_code ? nvrtcGetCUBIN : nvrtcGetPTX)(program, code.data()) == NVRTC_SUCCESS,
        "the compiled program");
  nvrtcDestroyProgram(&program);
  return code;
}

// Found at run time, as Python's packages do.
template <typename... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  return function == nullptr ? -1 : function(arguments...);
}

std::string link(const std::string& ptx, const std::string& architecture) {
  void* const library = dlopen("libnvJitLink.so.13", RTLD_NOW | RTLD_LOCAL);
  check(library != nullptr, "dlopen of libnvJitLink.so.13");
  constexpr int kPtxInput = 2;
  void* linker = nullptr;
  std::size_t size = 0;
  const std::string option = "-arch=" + architecture;
  const char* options[] = {option.c_str(), "-lineinfo"};
  check(call(library, "nvJitLinkCreate", &linker, 2U, &options[0]) == 0, "nvJitLinkCreate");
  check(call(library, "nvJitLinkAddData", linker, kPtxInput, ptx.data(), ptx.size(), "count") == 0,
        "nvJitLinkAddData");
  check(call(library, "nvJitLinkComplete", linker) == 0, "nvJitLinkComplete");
  check(call(library, "nvJitLinkGetLinkedCubinSize", linker, &size) == 0,
        "nvJitLinkGetLinkedCubinSize");
  std::string code(size, '\0');
  check(call(library, "nvJitLinkGetLinkedCubin", linker, code.data()) == 0,
        "nvJitLinkGetLinkedCubin");
  check(call(library, "nvJitLinkDestroy", &linker) == 0, "nvJitLinkDestroy");
  return code;
}

std::string architecture_of_device() {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess,
        "cudaDeviceGetAttribute");
  return std::to_string(major) + std::to_string(minor);
}

std::string compile(const char* source, std::string_view form) {
  if (form == "machine-code") {
    return compile(source, "sm_" + architecture_of_device(), true);
  }
  const std::string ptx = compile(source, "compute_75", false);
  return form == "linked" ? link(ptx, "sm_" + architecture_of_device()) : ptx;
}

}  // namespace

int main(int argc, char** argv) {
  const bool fixed = argc > 1 && std::string_view(argv[1]) == "fixed";
  const std::string code = compile(fixed ? kFixed : kRace, argc > 2 ? argv[2] : "ptx");
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof(int)) == cudaSuccess, "cudaMalloc");
  check(cudaMemset(counter, 0, sizeof(int)) == cudaSuccess, "cudaMemset");
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
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
