#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "emulator/libcuda.h"
#include "emulator/libcudart.h"

#define __CUDA_API_VERSION_INTERNAL
#define CUDA_ENABLE_DEPRECATED
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace runtime = barracuda::emulator::runtime;

namespace {

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(runtime::find_function(name));
}

// A runtime function by its exported name.
#define CUDA(name) find<decltype(::name)>(#name)

std::set<std::string>& asked_names() {
  static std::set<std::string> names;
  return names;
}

void* recording_resolver(const char* name) {
  asked_names().insert(name);
  return barracuda::emulator::driver::find_function(name);
}

int g_allocations = 0;

CUresult counting_alloc(CUdeviceptr* address, std::size_t bytes) {
  ++g_allocations;
  using Allocate = CUresult(CUdeviceptr*, std::size_t);
  return reinterpret_cast<Allocate*>(barracuda::emulator::driver::find_function("cuMemAlloc_v2"))(
      address, bytes);
}

void* hooking_resolver(const char* name) {
  return std::string_view(name) == "cuMemAlloc_v2"
             ? reinterpret_cast<void*>(&counting_alloc)
             : barracuda::emulator::driver::find_function(name);
}

struct Batch {
  CUdeviceptr *to = nullptr, *from = nullptr;
  std::size_t *sizes = nullptr, count = 0;
  CUmemcpyAttributes* attributes = nullptr;
  std::size_t *starts = nullptr, attribute_count = 0;
  CUstream stream = nullptr;
};

Batch g_batch;

CUresult recording_batch(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                         CUmemcpyAttributes* attributes, std::size_t* starts,
                         std::size_t attribute_count, CUstream stream) {
  g_batch = {.to = to,
             .from = from,
             .sizes = sizes,
             .count = count,
             .attributes = attributes,
             .starts = starts,
             .attribute_count = attribute_count,
             .stream = stream};
  return CUDA_ERROR_INVALID_ADDRESS_SPACE;
}

void* batch_resolver(const char* name) {
  return std::string_view(name) == "cuMemcpyBatchAsync_v2"
             ? reinterpret_cast<void*>(&recording_batch)
             : barracuda::emulator::driver::find_function(name);
}

std::string read_program(const std::string& name) {
  std::ifstream file(std::string(BARRACUDA_FACES_PROGRAMS) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the runtime reaches the driver through its resolver only") {
  runtime::set_driver_resolver(&recording_resolver);
  void* memory = nullptr;
  REQUIRE(CUDA(cudaMalloc)(&memory, 100) == cudaSuccess);
  CHECK(asked_names().contains("cuMemAlloc_v2"));
  CHECK(asked_names().contains("cuLaunchKernel"));
  runtime::set_driver_resolver(&hooking_resolver);
  void* more = nullptr;
  REQUIRE(CUDA(cudaMalloc)(&more, 100) == cudaSuccess);
  CHECK(g_allocations == 1);
  runtime::set_driver_resolver(nullptr);
  CHECK(CUDA(cudaFree)(memory) == cudaSuccess);
  CHECK(CUDA(cudaFree)(more) == cudaSuccess);
  CHECK(g_allocations == 1);
}

TEST_CASE("a forward hands on its arguments, the stream of its form, and what the driver answers") {
  runtime::set_driver_resolver(&batch_resolver);
  void* to = nullptr;
  const void* from = nullptr;
  const std::size_t size = 4;
  cudaMemcpyAttributes attributes{};
  std::size_t start = 0;
  CHECK(CUDA(cudaMemcpyBatchAsync)(&to, &from, &size, 5, &attributes, &start, 6, nullptr) ==
        cudaErrorInvalidAddressSpace);
  CHECK(static_cast<void*>(g_batch.to) == &to);
  CHECK(static_cast<void*>(g_batch.from) == &from);
  CHECK(g_batch.sizes == &size);
  CHECK(g_batch.count == 5);
  CHECK(static_cast<void*>(g_batch.attributes) == &attributes);
  CHECK(g_batch.starts == &start);
  CHECK(g_batch.attribute_count == 6);
  CHECK(g_batch.stream == nullptr);
  auto* const per_thread = find<decltype(::cudaMemcpyBatchAsync)>("cudaMemcpyBatchAsync_ptsz");
  CHECK(per_thread(&to, &from, &size, 5, &attributes, &start, 6, nullptr) ==
        cudaErrorInvalidAddressSpace);
  CHECK(g_batch.stream == CU_STREAM_PER_THREAD);
  CHECK(CUDA(cudaPeekAtLastError)() == cudaErrorInvalidAddressSpace);
  runtime::set_driver_resolver(nullptr);
  CHECK(CUDA(cudaDeviceReset)() == cudaSuccess);
}

TEST_CASE("a forward says of a kernel or a description that there is none") {
  CHECK(CUDA(cudaFuncSetCacheConfig)(&g_batch, cudaFuncCachePreferL1) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(CUDA(cudaGetLastError)() == cudaErrorInvalidDeviceFunction);
  CHECK(CUDA(cudaGraphKernelNodeSetParams)(nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(CUDA(cudaGetLastError)() == cudaErrorInvalidValue);
}

TEST_CASE("a runtime function that is not implemented says so, is counted and is the last error") {
  cudaGraph_t graph = nullptr;
  CHECK(CUDA(cudaGraphDebugDotPrint)(graph, "", 0) == cudaErrorNotSupported);
  CHECK(CUDA(cudaPeekAtLastError)() == cudaErrorNotSupported);
  CHECK(CUDA(cudaGetLastError)() == cudaErrorNotSupported);
  CHECK(CUDA(cudaGetLastError)() == cudaSuccess);
  bool is_counted = false;
  for (const auto& [name, count] : runtime::unsupported_calls()) {
    is_counted = is_counted || (name == "cudaGraphDebugDotPrint" && count == 1);
  }
  CHECK(is_counted);
}

TEST_CASE("every name of libcudart has a function, and no other name") {
  CHECK(runtime::find_function("cudaMalloc") != nullptr);
  CHECK(runtime::find_function("cudaMemcpyAsync_ptsz") != nullptr);
  CHECK(runtime::find_function("cudaMemcpyAsync_ptsz") !=
        runtime::find_function("cudaMemcpyAsync"));
  CHECK(runtime::find_function("cudaNoSuchFunction") == nullptr);
}

TEST_CASE("a library is loaded by the runtime from an image in memory") {
  const std::string image = read_program("kernels.fatbin");
  REQUIRE_FALSE(image.empty());
  cudaLibrary_t library = nullptr;
  REQUIRE(CUDA(cudaLibraryLoadData)(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr,
                                    0) == cudaSuccess);
  unsigned count = 0;
  CHECK(CUDA(cudaLibraryGetKernelCount)(&count, library) == cudaSuccess);
  CHECK(count == 2);
  cudaKernel_t kernel = nullptr;
  REQUIRE(CUDA(cudaLibraryGetKernel)(&kernel, library, "scale") == cudaSuccess);
  void* cells = nullptr;
  REQUIRE(CUDA(cudaMallocManaged)(&cells, 4, cudaMemAttachGlobal) == cudaSuccess);
  *static_cast<int*>(cells) = 6;
  int cell_count = 1, factor = 7;
  void* arguments[] = {&cells, &cell_count, &factor};
  CHECK(CUDA(cudaLaunchKernel)(kernel, dim3(1), dim3(32), arguments, 0, nullptr) == cudaSuccess);
  CHECK(CUDA(cudaDeviceSynchronize)() == cudaSuccess);
  CHECK(*static_cast<int*>(cells) == 42);
  CHECK(CUDA(cudaLibraryUnload)(library) == cudaSuccess);
  CHECK(CUDA(cudaLaunchKernel)(kernel, dim3(1), dim3(32), arguments, 0, nullptr) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(CUDA(cudaGetLastError)() == cudaErrorInvalidDeviceFunction);
  CHECK(CUDA(cudaFree)(cells) == cudaSuccess);
}

TEST_CASE("every error of the runtime has its name and text") {
  CHECK(CUDA(cudaGetErrorName)(cudaErrorLaunchFailure) == std::string("cudaErrorLaunchFailure"));
  CHECK(CUDA(cudaGetErrorString)(cudaErrorInvalidValue) == std::string("invalid argument"));
  CHECK(CUDA(cudaGetErrorName)(static_cast<cudaError_t>(12000)) ==
        std::string("unrecognized error code"));
}
