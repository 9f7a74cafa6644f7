#include <array>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

#include "emulator/libcuda.h"
#include "ptx/parse.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

namespace driver = barracuda::emulator::driver;

namespace {

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(driver::find_function(name));
}

// A driver function by its exported name.
#define CU(name) find<decltype(::name)>(#name)

std::string read_program(const std::string& name) {
  std::ifstream file(std::string(BARRACUDA_FACES_PROGRAMS) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A context of its own for each test, so that no failure outlives one.
struct CurrentContext {
  CUcontext handle = nullptr;

  CurrentContext() {
    REQUIRE(CU(cuInit)(0) == CUDA_SUCCESS);
    REQUIRE(CU(cuCtxCreate_v4)(&handle, nullptr, 0, 0) == CUDA_SUCCESS);
  }

  ~CurrentContext() { CU(cuCtxDestroy_v2)(handle); }

  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
};

std::string g_failed_kernel;
std::uint64_t g_failed_tag = 0;
barracuda::emulator::DeviceError g_failure;

void remember_failure(const barracuda::emulator::DeviceError& error, const void* /*function*/,
                      std::string_view kernel, std::uint64_t tag) {
  g_failure = error;
  g_failed_tag = tag;
  g_failed_kernel = kernel;
}

}  // namespace

TEST_CASE("every name of libcuda has a function, and no other name") {
  CHECK(driver::find_function("cuMemAlloc_v2") != nullptr);
  CHECK(driver::find_function("cuTexObjectCreate") != nullptr);
  CHECK(driver::find_function("cuNoSuchFunction") == nullptr);
  CHECK(driver::find_function("") == nullptr);
}

TEST_CASE("the forms of a function have addresses of their own") {
  CHECK(driver::find_function("cuLaunchKernel") != driver::find_function("cuLaunchKernel_ptsz"));
  CHECK(driver::find_function("cuMemcpyHtoD_v2") != driver::find_function("cuMemcpyHtoD_v2_ptds"));
  CHECK(driver::find_function("cuTexObjectCreate") != driver::find_function("cuTexObjectDestroy"));
}

TEST_CASE("a function that is not implemented says so and is counted") {
  CUmipmappedArray array = nullptr;
  CHECK(CU(cuMipmappedArrayCreate)(&array, nullptr, 1) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(CU(cuMipmappedArrayCreate)(&array, nullptr, 1) == CUDA_ERROR_NOT_SUPPORTED);
  bool is_counted = false;
  for (const auto& [name, count] : driver::unsupported_calls()) {
    is_counted = is_counted || (name == "cuMipmappedArrayCreate" && count == 2);
  }
  CHECK(is_counted);
}

TEST_CASE("cuGetProcAddress gives the form that a version means") {
  CHECK(driver::exported_name("cuMemAlloc", 13000, false) == "cuMemAlloc_v2");
  CHECK(driver::exported_name("cuMemAlloc", 2000, false) == "cuMemAlloc");
  CHECK(driver::exported_name("cuMemcpyHtoD", 13000, true) == "cuMemcpyHtoD_v2_ptds");
  CHECK(driver::exported_name("cuCtxCreate", 12000, false) == "cuCtxCreate_v3");
  CHECK(driver::exported_name("cuCtxCreate", 13000, false) == "cuCtxCreate_v4");
  CHECK(driver::exported_name("cuNoSuchFunction", 13000, false).empty());
  CHECK(driver::exported_name("cuLibraryLoadData", 11000, false).empty());
  void* function = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  CHECK(CU(cuGetProcAddress_v2)("cuMemFree", &function, 13000, 0, &found) == CUDA_SUCCESS);
  CHECK(function == driver::find_function("cuMemFree_v2"));
  CHECK(CU(cuGetProcAddress_v2)("cuLibraryLoadData", &function, 11000, 0, &found) ==
        CUDA_ERROR_NOT_FOUND);
  CHECK(found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CHECK(CU(cuGetProcAddress_v2)("cuX", &function, 13000, 0, &found) == CUDA_ERROR_NOT_FOUND);
  CHECK(found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

TEST_CASE("every error has a name and a text") {
  const char* text = nullptr;
  CHECK(CU(cuGetErrorString)(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS);
  CHECK(text == std::string("out of memory"));
  CHECK(CU(cuGetErrorName)(static_cast<CUresult>(950), &text) == CUDA_ERROR_INVALID_VALUE);
  CHECK(text == nullptr);
}

TEST_CASE("contexts nest, and a destroyed one is known as such") {
  const CurrentContext outer;
  CUcontext inner = nullptr, current = nullptr;
  REQUIRE(CU(cuCtxCreate_v2)(&inner, 0, 0) == CUDA_SUCCESS);
  CHECK(CU(cuCtxGetCurrent)(&current) == CUDA_SUCCESS);
  CHECK(current == inner);
  CHECK(CU(cuCtxPopCurrent_v2)(&current) == CUDA_SUCCESS);
  CHECK(CU(cuCtxGetCurrent)(&current) == CUDA_SUCCESS);
  CHECK(current == outer.handle);
  CHECK(CU(cuCtxPushCurrent_v2)(inner) == CUDA_SUCCESS);
  CHECK(CU(cuCtxDestroy_v2)(inner) == CUDA_SUCCESS);
  CHECK(CU(cuCtxDestroy_v2)(inner) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(CU(cuCtxSetCurrent)(inner) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("memory goes with its context") {
  CUdeviceptr address = 0;
  {
    const CurrentContext context;
    REQUIRE(CU(cuMemAlloc_v2)(&address, 1024) == CUDA_SUCCESS);
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    CHECK(CU(cuMemGetAddressRange_v2)(&base, &bytes, address + 100) == CUDA_SUCCESS);
    CHECK(base == address);
    CHECK(bytes == 1024);
  }
  const CurrentContext context;
  CHECK(CU(cuMemFree_v2)(address) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("copies and fills stay inside their allocation") {
  const CurrentContext context;
  CUdeviceptr address = 0;
  REQUIRE(CU(cuMemAlloc_v2)(&address, 64) == CUDA_SUCCESS);
  std::array<unsigned char, 128> host{};
  CHECK(CU(cuMemsetD8_v2)(address, 7, 64) == CUDA_SUCCESS);
  CHECK(CU(cuMemsetD8_v2)(address, 7, 65) == CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuMemsetD32_v2)(address + 2, 7, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuMemcpyDtoH_v2)(host.data(), address, 64) == CUDA_SUCCESS);
  CHECK(host[63] == 7);
  CHECK(CU(cuMemcpyDtoH_v2)(host.data(), address + 1, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuMemcpyHtoD_v2)(reinterpret_cast<CUdeviceptr>(host.data()), host.data(), 1) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuMemcpy)(reinterpret_cast<CUdeviceptr>(host.data()) + 64, address, 8) == CUDA_SUCCESS);
  CHECK(host[71] == 7);
  CHECK(host[72] == 0);
  CHECK(CU(cuMemcpy)(8, address, 8) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a failed kernel is reported, and stays the context's error") {
  const std::string ptx = read_program("kernels.ptx");
  {
    const CurrentContext context;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    REQUIRE(CU(cuModuleLoadData)(&module, ptx.c_str()) == CUDA_SUCCESS);
    REQUIRE(CU(cuModuleGetFunction)(&function, module, "store_at") == CUDA_SUCCESS);
    CUdeviceptr cells = 0;
    REQUIRE(CU(cuMemAlloc_v2)(&cells, 64) == CUDA_SUCCESS);
    int index = 1 << 24;
    std::array<void*, 2> parameters = {&cells, &index};
    driver::set_launch_failure_handler(&remember_failure);
    driver::set_launch_tagger([] { return std::uint64_t{7}; });
    CHECK(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data(), nullptr) ==
          CUDA_SUCCESS);
    driver::set_launch_failure_handler(nullptr);
    driver::set_launch_tagger(nullptr);
    CHECK(g_failed_kernel == "store_at");
    CHECK(g_failed_tag == 7);
    CHECK(g_failure.code == barracuda::emulator::DeviceErrorCode::kIllegalAddress);
    CHECK(g_failure.address == cells + (std::uint64_t{1} << 26));
    CHECK(g_failure.is_write);
    CHECK(CU(cuCtxSynchronize)() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(CU(cuMemFree_v2)(cells) == CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  const CurrentContext context;
  CHECK(CU(cuCtxSynchronize)() == CUDA_SUCCESS);
}

TEST_CASE("launches are checked as the driver checks them") {
  const CurrentContext context;
  const std::string ptx = read_program("kernels.ptx");
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(CU(cuModuleLoadData)(&module, ptx.c_str()) == CUDA_SUCCESS);
  REQUIRE(CU(cuModuleGetFunction)(&function, module, "scale") == CUDA_SUCCESS);
  CUdeviceptr cells = 0;
  REQUIRE(CU(cuMemAlloc_v2)(&cells, 64) == CUDA_SUCCESS);
  int count = 0, factor = 1;
  std::array<void*, 3> parameters = {&cells, &count, &factor};
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared, CUstream stream) {
    return CU(cuLaunchKernel)(function, grid, 1, 1, block, 1, 1, shared, stream, parameters.data(),
                              nullptr);
  };
  CHECK(launch(1, 32, 0, nullptr) == CUDA_SUCCESS);
  CHECK(launch(0, 32, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(1, 1025, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(1, 32, 49153, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuFuncSetAttribute)(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000) ==
        CUDA_SUCCESS);
  CHECK(launch(1, 32, 49153, nullptr) == CUDA_SUCCESS);
  CHECK(launch(1, 32, 0, reinterpret_cast<CUstream>(&count)) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("PTX units are linked by cuLink, and errors go to the log that was asked for") {
  const CurrentContext context;
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string first = head + ".visible .global .align 4 .u32 shared_word = 42;\n";
  const std::string second =
      head +
      ".extern .global .align 4 .u32 shared_word;\n"
      ".visible .entry read_word(.param .u64 to) {\n"
      ".reg .b32 %r<2>;\n.reg .b64 %rd<3>;\n"
      "ld.param.u64 %rd1, [to];\ncvta.to.global.u64 %rd2, %rd1;\n"
      "ld.global.u32 %r1, [shared_word];\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
  CUlinkState link = nullptr;
  REQUIRE(CU(cuLinkCreate_v2)(0, nullptr, nullptr, &link) == CUDA_SUCCESS);
  for (const std::string* unit : {&first, &second}) {
    std::string copy = *unit;
    CHECK(CU(cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX, copy.data(), copy.size() + 1, "unit", 0,
                               nullptr, nullptr) == CUDA_SUCCESS);
  }
  void* image = nullptr;
  std::size_t bytes = 0;
  REQUIRE(CU(cuLinkComplete)(link, &image, &bytes) == CUDA_SUCCESS);
  CUmodule module = nullptr;
  REQUIRE(CU(cuModuleLoadData)(&module, image) == CUDA_SUCCESS);
  CHECK(CU(cuLinkDestroy)(link) == CUDA_SUCCESS);
  CUfunction function = nullptr;
  REQUIRE(CU(cuModuleGetFunction)(&function, module, "read_word") == CUDA_SUCCESS);
  CUdeviceptr to = 0;
  REQUIRE(CU(cuMemAlloc_v2)(&to, 4) == CUDA_SUCCESS);
  std::array<void*, 1> parameters = {&to};
  CHECK(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data(), nullptr) ==
        CUDA_SUCCESS);
  int value = 0;
  CHECK(CU(cuMemcpyDtoH_v2)(&value, to, 4) == CUDA_SUCCESS);
  CHECK(value == 42);

  std::array<char, 200> log{};
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  const std::string bad = head + ".visible .entry broken( {";
  CHECK(CU(cuModuleLoadDataEx)(&module, bad.c_str(), options.size(), options.data(),
                               values.data()) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(log.data()).size() > 5);
}

TEST_CASE("images without PTX are refused with a reason") {
  const CurrentContext context;
  std::string cubin = std::string("\x7f") + "ELF" + std::string(60, '\0');
  constexpr std::size_t kMachineOffset = 18;
  cubin[kMachineOffset] = static_cast<char>(190);  // EM_CUDA
  CUmodule module = nullptr;
  CHECK(CU(cuModuleLoadData)(&module, cubin.c_str()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(driver::refused_images().back().find("without PTX") != std::string::npos);
}

TEST_CASE("a kernel finds its parameters where .align has moved them") {
  const CurrentContext context;
  const char* const ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .align 8 .u32 first, .param .align 16 .u32 second,
                    .param .align 4 .b64 pair[2], .param .u64 result)
{
  .reg .b64 %a, %b, %to;
  .reg .b32 %f, %s;
  ld.param.u64 %to, [result];
  ld.param.u32 %f, [first];
  ld.param.u32 %s, [second];
  ld.param.u64 %a, [pair];
  ld.param.u64 %b, [pair+8];
  st.u32 [%to], %f;
  st.u32 [%to+4], %s;
  st.u64 [%to+8], %a;
  st.u64 [%to+16], %b;
  ret;
}
)";
  CUmodule module = nullptr;
  const std::uint64_t parsed = barracuda::ptx::parsed_modules();
  REQUIRE(CU(cuModuleLoadData)(&module, ptx) == CUDA_SUCCESS);
  CHECK(barracuda::ptx::parsed_modules() - parsed == 1);
  CUfunction kernel = nullptr;
  REQUIRE(CU(cuModuleGetFunction)(&kernel, module, "sum") == CUDA_SUCCESS);
  const std::array<std::size_t, 4> offsets = {0, 16, 24, 40};
  for (std::size_t index = 0; index < offsets.size(); ++index) {
    std::size_t offset = 0;
    CHECK(CU(cuFuncGetParamInfo)(kernel, index, &offset, nullptr) == CUDA_SUCCESS);
    CHECK(offset == offsets.at(index));
  }
  CUdeviceptr result = 0;
  REQUIRE(CU(cuMemAllocManaged)(&result, 24, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
  unsigned first = 1, second = 2;
  std::array<unsigned long long, 2> pair = {3, 4};
  std::array<void*, 4> arguments = {&first, &second, pair.data(), &result};
  CHECK(CU(cuLaunchKernel)(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr) ==
        CUDA_SUCCESS);
  CHECK(CU(cuCtxSynchronize)() == CUDA_SUCCESS);
  const auto* const words = reinterpret_cast<const unsigned*>(result);
  CHECK(words[0] == 1);
  CHECK(words[1] == 2);
  const auto* const longs = reinterpret_cast<const unsigned long long*>(result);
  CHECK(longs[1] == 3);
  CHECK(longs[2] == 4);
  CHECK(CU(cuMemFree_v2)(result) == CUDA_SUCCESS);
}

TEST_CASE("streams write values and wait for them") {
  const CurrentContext context;
  CUstream first = nullptr, second = nullptr;
  REQUIRE(CU(cuStreamCreate)(&first, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(CU(cuStreamCreate)(&second, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  CUdeviceptr word = 0;
  REQUIRE(CU(cuMemAllocManaged)(&word, 64, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
  auto* const words = reinterpret_cast<unsigned*>(word);
  const auto wait = CU(cuStreamWaitValue32_v2);
  const auto write = CU(cuStreamWriteValue32_v2);

  CHECK(wait(second, word, 2, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  CHECK(write(second, word + 4, 7, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS);
  CHECK(CU(cuStreamQuery)(second) == CUDA_ERROR_NOT_READY);
  CHECK(write(first, word, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) == CUDA_SUCCESS);
  CHECK(CU(cuStreamQuery)(second) == CUDA_ERROR_NOT_READY);
  CHECK(words[1] == 0);
  SECTION("a stream ends the wait") {
    CHECK(CU(cuStreamWriteValue32)(first, word, 3, 0) == CUDA_SUCCESS);  // the older form
  }
  SECTION("the host ends it") {
    std::atomic_ref(words[0]).store(2);
  }
  CHECK(CU(cuStreamSynchronize)(second) == CUDA_SUCCESS);
  CHECK(words[1] == 7);

  CUstreamBatchMemOpParams operation{};
  operation.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, word + 8, {}, 0, 0};
  operation.writeValue.value64 = ~std::uint64_t{0};
  CHECK(CU(cuStreamBatchMemOp_v2)(first, 1, &operation, 0) == CUDA_SUCCESS);
  CHECK(CU(cuStreamWaitValue64_v2)(first, word + 8, 8, CU_STREAM_WAIT_VALUE_AND) == CUDA_SUCCESS);
  CHECK(CU(cuStreamSynchronize)(first) == CUDA_SUCCESS);
  CHECK((words[2] == ~0U && words[3] == ~0U));

  CHECK(wait(first, word + 2, 0, 0) == CUDA_ERROR_INVALID_VALUE);  // not aligned
  CHECK(wait(first, 4096, 0, 0) == CUDA_ERROR_INVALID_VALUE);      // not the device's
  CHECK(wait(first, word, 0, 4) == CUDA_ERROR_INVALID_VALUE);      // no condition
  CHECK(write(first, word, 0, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuStreamBatchMemOp_v2)(first, 1, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuMemFree_v2)(word) == CUDA_SUCCESS);
}
