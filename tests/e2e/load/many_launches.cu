// Launches tiny kernels, as many as the second argument says: many_launches
// kernels|streams|copies|values N. kernels: one after the other. streams: in two streams by turns,
// with an event behind each and a wait of the other stream every hundredth. copies: with a small
// copy behind each. values: one after the other, and all lanes store one value, another in each.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

constexpr unsigned kBlocks = 2;
constexpr unsigned kThreads = 64;
constexpr unsigned kCells = kBlocks * kThreads;

__global__ void add(unsigned* cells) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += threadIdx.x;
}

__global__ void count(unsigned* cells) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static bool launch_one(const char* how, unsigned long number, unsigned* cells,
                       cudaStream_t (&streams)[2], cudaEvent_t (&events)[2]) {
  const bool has_streams = std::strcmp(how, "streams") == 0;
  const unsigned long turn = has_streams ? number % 2 : 0;
  if (std::strcmp(how, "values") == 0) {
    count<<<kBlocks, kThreads, 0, streams[turn]>>>(cells);
  } else {
    add<<<kBlocks, kThreads, 0, streams[turn]>>>(cells + turn * kCells);
  }
  bool done = true;
  if (has_streams) {
    done = cudaEventRecord(events[turn], streams[turn]) == cudaSuccess &&
           (number % 100 != 0 || cudaStreamWaitEvent(streams[1], events[0], 0) == cudaSuccess);
  } else if (std::strcmp(how, "copies") == 0) {
    done = cudaMemcpyAsync(cells + kCells, cells, sizeof *cells, cudaMemcpyDeviceToDevice,
                           streams[0]) == cudaSuccess;
  }
  return done && cudaGetLastError() == cudaSuccess;
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "kernels";
  const unsigned long launches = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1000;
  unsigned* cells = nullptr;
  cudaStream_t streams[2] = {};
  cudaEvent_t events[2] = {};
  for (int i = 0; i < 2; ++i) {
    if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess ||
        cudaEventCreate(&events[i]) != cudaSuccess) {
      return 1;
    }
  }
  if (cudaMalloc(&cells, 2 * kCells * sizeof *cells) != cudaSuccess ||
      cudaMemset(cells, 0, 2 * kCells * sizeof *cells) != cudaSuccess ||
      cudaDeviceSynchronize() != cudaSuccess) {
    return 1;
  }
  for (unsigned long number = 0; number < launches; ++number) {
    if (!launch_one(how, number, cells, streams, events)) {
      return 1;
    }
  }
  unsigned first = 0;
  if (cudaDeviceSynchronize() != cudaSuccess ||
      cudaMemcpy(&first, cells, sizeof first, cudaMemcpyDeviceToHost) != cudaSuccess) {
    return 1;
  }
  std::printf("%u\n", first);
  return 0;
}
