// Flags and locks as programs write them: plain, volatile, cuda::atomic.
#include <cuda/atomic>

__global__ void volatile_flag(volatile int* flag, int* data) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *data += 1;
  }
}

__global__ void ticket_lock(unsigned* next, volatile unsigned* serving, int* data) {
  const unsigned mine = atomicAdd(next, 1);
  while (*serving != mine) {
    __nanosleep(20);
  }
  __threadfence();
  *data += 1;
  __threadfence();
  *serving = mine + 1;
}

__global__ void orders(int* word, int* data) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*word);
  cuda::atomic_ref<int, cuda::thread_scope_block> narrow(word[1]);
  if (threadIdx.x == 0) {
    *data = 1;
    flag.store(1, cuda::memory_order_release);
    narrow.fetch_add(2, cuda::memory_order_acq_rel);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    int expected = 1;
    narrow.compare_exchange_strong(expected, 3);
    *data += narrow.exchange(4);
  }
}
