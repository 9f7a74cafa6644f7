// Preloaded into a program with the shared CUDA runtime: times every kernel launch by events and,
// at the end, appends "LAUNCHES MILLISECONDS" to the file that KERNEL_TIME_FILE names. Works the
// same with no tool, under ours and under compute-sanitizer. Launches are waited for one by one:
// use it for kernel times, not for wall times, and not with streams that need each other or are
// captured.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

#include <cuda_runtime_api.h>

namespace {

struct Total {
  std::mutex mutex;
  unsigned long launches = 0;
  double milliseconds = 0;

  ~Total() {
    const char* const name = std::getenv("KERNEL_TIME_FILE");
    std::FILE* const file = launches != 0 && name != nullptr ? std::fopen(name, "a") : nullptr;
    if (file != nullptr) {
      std::fprintf(file, "%lu %.6f\n", launches, milliseconds);
      std::fclose(file);
    }
  }
};

Total g_total;

using LaunchFunction = cudaError_t(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

__global__ void warm_up() {}

void load(const void* function) {
  static const bool is_warm = [] {
    static auto* const real = next<decltype(__cudaLaunchKernel)>("__cudaLaunchKernel");
    cudaKernel_t kernel = nullptr;
    return cudaGetKernel(&kernel, reinterpret_cast<const void*>(warm_up)) == cudaSuccess &&
           real(kernel, 1, 1, nullptr, 0, nullptr) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
  }();
  cudaFuncAttributes attributes;
  if (!is_warm || cudaFuncGetAttributes(&attributes, function) != cudaSuccess) {
    cudaGetLastError();
  }
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return stream != nullptr && cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

template <typename Launch>
cudaError_t timed(const void* function, cudaStream_t stream, Launch launch) {
  if (is_captured(stream)) {
    return launch();
  }
  const std::lock_guard lock(g_total.mutex);
  if (function != nullptr) {
    load(function);
  }
  cudaEvent_t start = nullptr, stop = nullptr;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start, stream);
  const cudaError_t error = launch();
  cudaEventRecord(stop, stream);
  float milliseconds = 0;
  if (error == cudaSuccess && cudaEventSynchronize(stop) == cudaSuccess &&
      cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess) {
    ++g_total.launches;
    g_total.milliseconds += static_cast<double>(milliseconds);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  static auto* const real = next<LaunchFunction>("cudaLaunchKernel");
  return timed(function, stream,
               [&] { return real(function, grid, block, arguments, shared, stream); });
}

// What nvcc 13 makes of <<<…>>>.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  static auto* const real = next<decltype(__cudaLaunchKernel)>("__cudaLaunchKernel");
  return timed(kernel, stream,
               [&] { return real(kernel, grid, block, arguments, shared, stream); });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared, cudaStream_t stream) {
  static auto* const real = next<LaunchFunction>("cudaLaunchCooperativeKernel");
  return timed(function, stream,
               [&] { return real(function, grid, block, arguments, shared, stream); });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  static auto* const real =
      next<cudaError_t(const cudaLaunchConfig_t*, const void*, void**)>("cudaLaunchKernelExC");
  return timed(function, config->stream, [&] { return real(config, function, arguments); });
}

// All that a graph does is one launch. CUDA declares cudaGraphLaunch for kernels as well, so it has
// another name here.
cudaError_t launch_graph(cudaGraphExec_t graph, cudaStream_t stream) __asm__("cudaGraphLaunch");

cudaError_t launch_graph(cudaGraphExec_t graph, cudaStream_t stream) {
  static auto* const real = next<cudaError_t(cudaGraphExec_t, cudaStream_t)>("cudaGraphLaunch");
  return timed(nullptr, stream, [&] { return real(graph, stream); });
}

}  // extern "C"
