// Breaks an invariant of the tool that watches this process, between two launches of a kernel: says
// of the kernel's handle that it is another kernel. Takes where in libbarracuda.so two functions
// lie, which it does not export: preload::process_session() and ModuleRegistry::find().
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <link.h>
#include <numeric>
#include <string_view>
#include <vector>

#include <cuda.h>

#include "session/session.h"

namespace {

using barracuda::session::Handle;
using barracuda::session::KernelBinding;
using barracuda::session::ModuleRegistry;
using barracuda::session::Session;

constexpr unsigned kThreads = 32;

constexpr const char* kText = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 place)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [place];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

std::uintptr_t library_base() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        if (std::string_view(library->dlpi_name).find("libbarracuda.so") !=
            std::string_view::npos) {
          *static_cast<std::uintptr_t*>(found) = library->dlpi_addr;
        }
        return 0;
      },
      &base);
  return base;
}

template <typename Function>
Function* function_at(const char* offset) {
  return reinterpret_cast<Function*>(library_base() + std::strtoull(offset, nullptr, 16));
}

void check(CUresult status) {
  if (status != CUDA_SUCCESS) {
    std::printf("status %d\n", static_cast<int>(status));
    std::exit(1);
  }
}

unsigned launch(CUfunction kernel, CUdeviceptr place) {
  check(cuMemsetD32(place, 0, kThreads));
  void* parameters[] = {&place};
  check(cuLaunchKernel(kernel, 1, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr));
  std::vector<unsigned> numbers(kThreads);
  check(cuMemcpyDtoH(numbers.data(), place, kThreads * sizeof(unsigned)));
  return std::accumulate(numbers.begin(), numbers.end(), 0U);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    return 2;
  }
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr place = 0;
  check(cuInit(0));
  check(cuDevicePrimaryCtxRetain(&context, 0));
  check(cuCtxSetCurrent(context));
  check(cuModuleLoadData(&module, kText));
  check(cuModuleGetFunction(&kernel, module, "fill"));
  check(cuMemAlloc(&place, kThreads * sizeof(unsigned)));
  std::printf("before %u\n", launch(kernel, place));
  auto* const process_session = function_at<Session&()>(arguments[1]);
  auto* const find =
      function_at<std::shared_ptr<const KernelBinding>(const ModuleRegistry*, Handle)>(
          arguments[2]);
  const auto binding =
      find(&process_session().modules(), Handle{reinterpret_cast<std::uint64_t>(kernel)});
  const_cast<KernelBinding&>(*binding).name[0] = 'k';
  std::printf("after %u\n", launch(kernel, place));
  std::printf("later %u\n", launch(kernel, place));
  check(cuMemFree(place));
  return 0;
}
