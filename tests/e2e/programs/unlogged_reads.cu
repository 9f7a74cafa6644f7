// What stays unlogged, and who contradicts it: the argument says how.
//   read       each thread reads another's number of an array that is not written: no race
//   late       the array is overwritten in a stream of its own before anybody has waited: a race
//   waited     the same behind an event
//   outside    the array is written through the pointer to the other one, and read: a race
//   in-place   it is written as it says, and read: a race
//   stray      the array of which each thread writes a number is read through the pointer to the
//              other one: a race
//   beside     it is copied in a stream of its own before anybody has waited: a race
// A second argument: "meet", the threads of the block meet at the end, so that the kernel has no
// guarded form; "again", the kernel is launched twice.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

constexpr int kThreads = 256;

template <bool kMeets>
__global__ void shift(const int* in, int* out, std::ptrdiff_t place, std::ptrdiff_t read) {
  const int i = static_cast<int>(threadIdx.x);
  const int next = in[read + (i + 1) % kThreads];
  out[place + i] = next;
  if (kMeets) {
    __syncthreads();
  }
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "read";
  const auto is = [&](const char* other) { return std::strcmp(how, other) == 0; };
  int *in, *out, *copy;
  cudaMalloc(&in, kThreads * sizeof(int));
  cudaMalloc(&out, kThreads * sizeof(int));
  cudaMalloc(&copy, kThreads * sizeof(int));
  cudaMemset(in, 0, kThreads * sizeof(int));
  cudaDeviceSynchronize();
  const char* const more = count > 2 ? arguments[2] : "";
  const auto kernel = std::strcmp(more, "meet") == 0 ? shift<true> : shift<false>;
  for (int launches = std::strcmp(more, "again") == 0 ? 2 : 1; launches != 0; --launches) {
    kernel<<<1, kThreads>>>(in, is("in-place") ? in : out, is("outside") ? in - out : 0,
                            is("stray") ? out - in : 0);
    if (launches == 2) {
      cudaDeviceSynchronize();
    }
  }
  if (is("late") || is("waited") || is("beside")) {
    cudaStream_t beside;
    cudaEvent_t read;
    cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
    cudaEventCreate(&read);
    cudaEventRecord(read);
    if (is("waited")) {
      cudaStreamWaitEvent(beside, read, 0);
    }
    if (is("beside")) {
      cudaMemcpyAsync(copy, out, sizeof(int), cudaMemcpyDeviceToDevice, beside);
    } else {
      cudaMemsetAsync(in, 1, kThreads * sizeof(int), beside);
    }
    cudaStreamSynchronize(beside);
    cudaStreamDestroy(beside);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::puts(status == cudaSuccess ? "ok" : cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
