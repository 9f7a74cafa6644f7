// The hash table of "CUDA by Example": a bucket is a list behind a mutex of its own, and the lanes
// of a warp add their elements one after the other. The book has neither fence.
//
// expect: none
// weak: never
// variant unlock_fence: -DLOCK_FENCE=0
// expect unlock_fence: race inter-block global
// weak unlock_fence: fails
// fence unlock_fence: LOCK_FENCE, acq_rel gpu
// behind unlock_fence: while (atomicCAS(mutex
// variant lock_fence: -DUNLOCK_FENCE=0
// expect lock_fence: race inter-block global
// weak lock_fence: fails
// fence lock_fence: UNLOCK_FENCE, acq_rel gpu, --stores-only --random
// behind lock_fence: first[bucket] = i
// variant no_fence: -DLOCK_FENCE=0 -DUNLOCK_FENCE=0
// expect no_fence: race - global
// weak no_fence: fails
#include "weak.h"

#ifndef LOCK_FENCE
#  define LOCK_FENCE 1
#endif
#ifndef UNLOCK_FENCE
#  define UNLOCK_FENCE 1
#endif

constexpr int kElements = 1024;
constexpr int kBuckets = 32;
constexpr int kThreads = 64;
constexpr int kBlocks = 8;
constexpr int kNone = -1;

struct Entry {
  unsigned key;
  int value;
  int next;
};

__host__ __device__ unsigned bucket_of(unsigned key) {
  return key * 2654435761u >> 27;
}

static_assert(kBuckets == 1 << (32 - 27));

__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  if (LOCK_FENCE) {
    __threadfence();
  }
}

__device__ void unlock(int* mutex) {
  if (UNLOCK_FENCE) {
    __threadfence();
  }
  atomicExch(mutex, 0);
}

__global__ void add_to_table(const unsigned* keys, Entry* pool, int* first, int* mutexes) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kElements; i += stride) {
    const unsigned key = keys[i];
    const unsigned bucket = bucket_of(key);
    for (int lane = 0; lane < 32; ++lane) {
      if (i % 32 == lane) {
        pool[i].key = key;
        pool[i].value = i;
        lock(&mutexes[bucket]);
        pool[i].next = first[bucket];  // RACE
        first[bucket] = i;             // RACE
        unlock(&mutexes[bucket]);
      }
    }
  }
}

int run_round() {
  std::vector<unsigned> keys(kElements);
  unsigned random = 1;
  for (unsigned& key : keys) {
    key = random = random * 1664525u + 1013904223u;
  }
  Entry* const pool = device_array<Entry>(kElements);
  int* const first = device_array<int>(kBuckets, 0xff);
  add_to_table<<<kBlocks, kThreads>>>(to_device(keys), pool, first, device_array<int>(kBuckets));
  finish_kernels();

  const std::vector<Entry> entries = to_host(pool, kElements);
  const std::vector<int> heads = to_host(first, kBuckets);
  int present = 0;
  for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
    // At most as many steps as there are elements: a broken list may be a circle.
    int steps = 0;
    for (int i = heads[bucket]; i != kNone && steps < kElements; i = entries[i].next, ++steps) {
      present += entries[i].key == keys[i] && entries[i].value == i && bucket_of(keys[i]) == bucket;
    }
  }
  return conclude("elements in the table:", present, kElements);
}
