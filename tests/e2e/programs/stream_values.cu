// Two streams and a value in memory: stream_values HOW. written: the second stream waits for what
// the first has written. batch: the same by a counter of 64 bits. other: it waits for a value that
// was written before the kernel. unwaited: it does not wait. early: it waits before the value is
// written. host: the host writes the value.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <cuda.h>
#include <cuda_runtime.h>

__global__ void produce(int* data) {
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
}

__global__ void consume(const int* data, int* out) {
  out[threadIdx.x] = data[31 - threadIdx.x];
}

template <typename Function>
static Function* driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result) !=
          cudaSuccess ||
      found == nullptr) {
    std::printf("no %s\n", name);
  }
  return reinterpret_cast<Function*>(found);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "written";
  const auto is = [&](const char* name) { return std::strcmp(how, name) == 0; };
  const auto write = driver<decltype(cuStreamWriteValue32)>("cuStreamWriteValue32");
  const auto wait = driver<decltype(cuStreamWaitValue32)>("cuStreamWaitValue32");
  const auto batch = driver<decltype(cuStreamBatchMemOp)>("cuStreamBatchMemOp");
  int *data = nullptr, *out = nullptr;
  unsigned* host_flag = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaHostAlloc(&host_flag, 16, cudaHostAllocMapped);
  std::memset(host_flag, 0, 16);
  const auto flag = reinterpret_cast<CUdeviceptr>(host_flag);
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  int failures = 0;
  const auto check = [&](CUresult status) { failures += status == CUDA_SUCCESS ? 0 : 1; };
  if (is("early") || is("host")) {
    produce<<<1, 32, 0, first>>>(data);
    check(wait(second, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    if (is("early")) {
      check(write(first, flag, 1, 0));
    } else {
      *static_cast<volatile unsigned*>(host_flag) = 1;
    }
  } else if (is("batch")) {
    produce<<<1, 32, 0, first>>>(data);
    CUstreamBatchMemOpParams operations[2] = {};
    operations[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, flag, {}, 0, 0};
    operations[0].writeValue.value64 = std::uint64_t{5} << 32;
    check(batch(first, 1, operations, 0));
    operations[1].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_64, flag, {}, 0, 0};
    operations[1].waitValue.value64 = std::uint64_t{4} << 32;
    check(batch(second, 1, operations + 1, 0));
    consume<<<1, 32, 0, second>>>(data, out);
  } else {
    if (is("other")) {
      check(write(first, flag, 1, 0));
    }
    produce<<<1, 32, 0, first>>>(data);
    check(write(first, flag, 2, 0));
    if (!is("unwaited")) {
      check(wait(second, flag, is("other") ? 1 : 2, is("other") ? CU_STREAM_WAIT_VALUE_EQ : 0));
    }
    consume<<<1, 32, 0, second>>>(data, out);
  }
  if (is("other")) {  // which the second stream may have missed
    check(write(first, flag, 1, 0));
  }
  const cudaError_t end = cudaDeviceSynchronize();
  std::printf("%d calls failed, %s\n", failures, cudaGetErrorName(end));
  return 0;
}
