// GPU-TM's hash table with a right lock: a fence after the compare-and-swap that takes it, a fence
// before the exchange that frees it.
//
// expect: none
#include "hashtable_check.h"

__global__ void insert(Table table, const unsigned int* keys, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) {
    return;
  }
  const unsigned int bucket = bucket_of(keys[i], table.bucket_count);
  bool inserted = false;
  while (!inserted) {
    if (atomicCAS(&table.locks[bucket], 0, 1) == 0) {
      __threadfence();
      table.entries[i].key = keys[i];
      table.entries[i].next = table.heads[bucket];
      table.heads[bucket] = i;
      __threadfence();
      atomicExch(&table.locks[bucket], 0);
      inserted = true;
    }
  }
}

int main(int argc, char** argv) {
  return check_insertion(size_argument(argc, argv, 1024),
                         [](int blocks, int threads, Table table, const unsigned int* keys,
                            int count) { insert<<<blocks, threads>>>(table, keys, count); });
}
