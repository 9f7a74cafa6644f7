// Loads a file of device code and launches its kernel count(int*): load_code FILE…, one after the
// other. For behaviour/machine_code.sh, which makes such files in every way that there is.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <cuda_runtime.h>

namespace {

void check(bool good, const char* what, const char* file) {
  if (!good) {
    std::fprintf(stderr, "%s: %s failed\n", file, what);
    std::exit(1);
  }
}

void count(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string code((std::istreambuf_iterator<char>(stream)), {});
  check(!code.empty(), "reading", file);
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof(int)) == cudaSuccess, "cudaMalloc", file);
  check(cudaMemset(counter, 0, sizeof(int)) == cudaSuccess, "cudaMemset", file);
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            cudaSuccess,
        "cudaLibraryLoadData", file);
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, "count") == cudaSuccess, "cudaLibraryGetKernel",
        file);
  void* parameters[] = {&counter};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(16), dim3(1), parameters, 0,
                         nullptr) == cudaSuccess,
        "cudaLaunchKernel", file);
  check(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize", file);
  std::puts("counted");
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    count(argv[i]);
  }
  return 0;
}
