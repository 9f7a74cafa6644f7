// Kernels that need others, copies or the host while they run.
#include <thread>

#include "check.h"

__device__ int flag, turn, data;

__global__ void reset() {
  flag = turn = data = 0;
}

__global__ void wait_for_flag(int* out) {
  while (atomicAdd(&flag, 0) == 0) {
  }
  __threadfence();
  *out = data;
}

__global__ void set_flag(int value) {
  data = value;
  __threadfence();
  atomicExch(&flag, 1);
}

__global__ void play(int me, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    while (atomicAdd(&turn, 0) % 2 != me) {
    }
    __threadfence();
    atomicAdd(&turn, 1);
  }
}

__global__ void add(int* cell, int value) {
  *cell += value;
}

// Thread 0 of each block polls for all.
__global__ void serve(volatile int* command, int* sum) {
  __shared__ int told;
  do {
    if (threadIdx.x == 0) {
      told = *command;
    }
    __syncthreads();
    const int mine = told;
    __syncthreads();
    if (mine != 0) {
      break;
    }
  } while (true);
  atomicAdd_system(sum, 1);
}

__global__ void answer(volatile int* question, volatile int* answers) {
  for (int i = 1;; ++i) {
    int asked = 0;
    while ((asked = *question) != i && asked >= 0) {
    }
    if (asked < 0) {
      return;
    }
    __threadfence_system();
    *answers = 10 * i;
  }
}

__global__ void beat(volatile int* stop, volatile int* beats) {
  for (int i = 1; *stop == 0; ++i) {
    *beats = i;
  }
}

__global__ void try_often(volatile int* never, int* tries) {
  int i = 0;
  while (*never == 0 && i < 100'000) {
    ++i;
  }
  *tries = i;
}

void CUDART_CB count_call(void* calls) {
  ++*static_cast<int*>(calls);
}

struct Streams {
  cudaStream_t a, b, c;

  explicit Streams(unsigned flags) {
    for (cudaStream_t* stream : {&a, &b, &c}) {
      EXPECT(cudaStreamCreateWithFlags(stream, flags) == cudaSuccess);
    }
  }
};

void start() {
  reset<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
}

// The consumer is launched first.
void consumer_and_producer(const Streams& streams, int* out) {
  start();
  wait_for_flag<<<1, 1, 0, streams.a>>>(out);
  set_flag<<<1, 1, 0, streams.b>>>(42);
  EXPECT(cudaStreamSynchronize(streams.a) == cudaSuccess);
  EXPECT(*out == 42);
  start();
  play<<<1, 1, 0, streams.a>>>(1, 50);
  play<<<1, 1, 0, streams.b>>>(0, 50);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  int turns = 0;
  EXPECT(cudaMemcpyFromSymbol(&turns, turn, sizeof turns) == cudaSuccess);
  EXPECT(turns == 100);
}

// Work behind a kernel that polls waits for it, in its stream and in others.
void order(const Streams& streams, int* cells) {
  start();
  cells[0] = cells[1] = 0;
  int calls = 0;
  cudaEvent_t begin, end;
  EXPECT(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess);
  EXPECT(cudaEventRecord(begin, streams.a) == cudaSuccess);
  wait_for_flag<<<1, 32, 0, streams.a>>>(cells + 1);
  add<<<1, 1, 0, streams.a>>>(cells, 1);
  EXPECT(cudaEventRecord(end, streams.a) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(streams.c, end, 0) == cudaSuccess);
  add<<<1, 1, 0, streams.c>>>(cells, 2);
  EXPECT(cudaLaunchHostFunc(streams.c, count_call, &calls) == cudaSuccess);
  EXPECT(cudaEventQuery(begin) == cudaSuccess);
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  EXPECT(cudaStreamQuery(streams.c) == cudaErrorNotReady);
  EXPECT(cudaStreamQuery(streams.b) == cudaSuccess);
  float milliseconds = 0;
  EXPECT(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorNotReady);
  EXPECT(cudaGetLastError() == cudaErrorNotReady);
  EXPECT(calls == 0 && cells[0] == 0);
  set_flag<<<1, 1, 0, streams.b>>>(1);
  EXPECT(cudaEventSynchronize(end) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(streams.c) == cudaSuccess);
  EXPECT(cudaEventQuery(end) == cudaSuccess && cudaStreamQuery(streams.c) == cudaSuccess);
  EXPECT(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess);
  EXPECT(calls == 1 && cells[0] == 3 && cells[1] == 1);
}

// What sets the flag: a copy, a memset, a host thread with a stream of its own, and the host
// itself.
void setters(const Streams& streams, int* pinned, int* out) {
  int* device_flag = nullptr;
  EXPECT(cudaGetSymbolAddress(reinterpret_cast<void**>(&device_flag), flag) == cudaSuccess);
  for (int way = 0; way < 3; ++way) {
    start();
    *out = -1;
    wait_for_flag<<<1, 1, 0, streams.a>>>(out);
    EXPECT(cudaStreamQuery(streams.a) == cudaErrorNotReady);
    if (way == 0) {
      *pinned = 1;
      EXPECT(cudaMemcpyAsync(device_flag, pinned, sizeof(int), cudaMemcpyHostToDevice, streams.b) ==
             cudaSuccess);
    } else if (way == 1) {
      EXPECT(cudaMemsetAsync(device_flag, 1, 1, streams.b) == cudaSuccess);
    } else {
      std::thread other([&] {
        set_flag<<<1, 1, 0, streams.b>>>(0);
        EXPECT(cudaStreamSynchronize(streams.b) == cudaSuccess);
      });
      other.join();
    }
    EXPECT(cudaStreamSynchronize(streams.a) == cudaSuccess);
    EXPECT(*out == 0);
  }
}

void host_and_kernel(int* cells) {
  cells[0] = cells[32] = 0;
  serve<<<20, 96>>>(cells, cells + 32);
  EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  __atomic_store_n(&cells[0], 1, __ATOMIC_SEQ_CST);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(cells[32] == 20 * 96);
  cells[0] = cells[32] = 0;
  answer<<<1, 1>>>(cells, cells + 32);
  for (int i = 1; i <= 10; ++i) {
    __atomic_store_n(&cells[0], i, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&cells[32], __ATOMIC_SEQ_CST) != 10 * i) {
    }
  }
  __atomic_store_n(&cells[0], -1, __ATOMIC_SEQ_CST);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  cells[0] = cells[32] = 0;
  beat<<<1, 1>>>(cells, cells + 32);
  while (__atomic_load_n(&cells[32], __ATOMIC_SEQ_CST) < 100) {
  }
  __atomic_store_n(&cells[0], 1, __ATOMIC_SEQ_CST);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
}

void bounded(int* cells) {
  cells[0] = cells[32] = 0;
  try_often<<<1, 32>>>(cells, cells + 32);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(cells[32] == 100'000);
}

// The branch that waits is captured first.
void graph(const Streams& streams, int* out) {
  start();
  cudaEvent_t fork, joined;
  EXPECT(cudaEventCreate(&fork) == cudaSuccess && cudaEventCreate(&joined) == cudaSuccess);
  EXPECT(cudaStreamBeginCapture(streams.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  EXPECT(cudaEventRecord(fork, streams.a) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(streams.b, fork, 0) == cudaSuccess);
  wait_for_flag<<<1, 1, 0, streams.a>>>(out);
  set_flag<<<1, 1, 0, streams.b>>>(7);
  EXPECT(cudaEventRecord(joined, streams.b) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(streams.a, joined, 0) == cudaSuccess);
  add<<<1, 1, 0, streams.a>>>(out, 100);
  cudaGraph_t made;
  cudaGraphExec_t executable;
  EXPECT(cudaStreamEndCapture(streams.a, &made) == cudaSuccess);
  EXPECT(cudaGraphInstantiate(&executable, made, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, streams.a) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(streams.a) == cudaSuccess);
  EXPECT(*out == 107);
}

int main() {
  int *cells, *pinned;
  EXPECT(cudaMallocManaged(&cells, 4096) == cudaSuccess);
  EXPECT(cudaMallocHost(&pinned, 4096) == cudaSuccess);
  for (const unsigned flags : {unsigned{cudaStreamDefault}, unsigned{cudaStreamNonBlocking}}) {
    const Streams streams(flags);
    consumer_and_producer(streams, cells);
    order(streams, cells);
    setters(streams, pinned, cells);
    graph(streams, cells);
  }
  host_and_kernel(cells);
  host_and_kernel(pinned);
  bounded(cells);
  // In memory that is given back in the order of a stream.
  const Streams streams(cudaStreamNonBlocking);
  start();
  int* pooled = nullptr;
  EXPECT(cudaMallocAsync(&pooled, sizeof(int), streams.a) == cudaSuccess);
  wait_for_flag<<<1, 1, 0, streams.a>>>(pooled);
  EXPECT(cudaMemcpyAsync(pinned, pooled, sizeof(int), cudaMemcpyDeviceToHost, streams.a) ==
         cudaSuccess);
  EXPECT(cudaFreeAsync(pooled, streams.a) == cudaSuccess);
  set_flag<<<1, 1, 0, streams.b>>>(5);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*pinned == 5);
  return 0;
}
