// cuda::atomic and cuda::atomic_ref in every order and scope, CUDA atomics, fences.
#include <cuda/atomic>

template <cuda::thread_scope Scope>
__device__ int exercise(int* word) {
  cuda::atomic_ref<int, Scope> ref(*word);
  ref.store(1, cuda::memory_order_release);
  ref.store(2, cuda::memory_order_seq_cst);
  int sum = ref.load(cuda::memory_order_acquire) + ref.load(cuda::memory_order_relaxed);
  sum += ref.fetch_add(3, cuda::memory_order_acq_rel) + ref.exchange(4);
  int expected = sum;
  ref.compare_exchange_strong(expected, 5, cuda::memory_order_acquire);
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, Scope);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, Scope);
  return sum + expected;
}

__global__ void scoped(int* words, int* out) {
  out[threadIdx.x] = exercise<cuda::thread_scope_block>(words) +
                     exercise<cuda::thread_scope_device>(words + 1) +
                     exercise<cuda::thread_scope_system>(words + 2);
}

__global__ void classic(int* words, float* floats, double* doubles, unsigned long long* wide) {
  __shared__ int counts[32];
  counts[threadIdx.x & 31] = 0;
  __syncthreads();
  atomicAdd(&counts[words[threadIdx.x] & 31], 1);
  __threadfence_block();
  atomicMax_block(&words[1], counts[threadIdx.x & 31]);
  __threadfence();
  atomicAdd(&floats[0], 1.5F);
  atomicAdd(&doubles[0], 2.5);
  __threadfence_system();
  atomicCAS_system(&words[2], 1, 2);
  atomicExch(&wide[0], 7ULL);
  atomicInc(reinterpret_cast<unsigned*>(words), 9);
  atomicAnd(&words[3], 0xff);
  volatile int* flag = words + 8;
  while (*flag == 0) {
    __nanosleep(100);
  }
  *flag = 3;
}
