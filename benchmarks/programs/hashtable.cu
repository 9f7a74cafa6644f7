// GPU-TM's hash table: chained buckets, each under a lock of its own. The lock is taken by an
// atomicCAS without a fence and released by a plain store: nothing orders one holder's writes
// before the next holder's reads. hashtable_fenced.cu is the same with fences.
//
// expect: race inter-block global
#include "hashtable_check.h"

__global__ void insert(Table table, const unsigned int* keys, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) {
    return;
  }
  const unsigned int bucket = bucket_of(keys[i], table.bucket_count);
  bool inserted = false;
  while (!inserted) {
    if (atomicCAS(&table.locks[bucket], 0, 1) == 0) {  // RACE
      table.entries[i].key = keys[i];
      table.entries[i].next = table.heads[bucket];  // RACE
      table.heads[bucket] = i;                      // RACE
      table.locks[bucket] = 0;                      // RACE
      inserted = true;
    }
  }
}

int main(int argc, char** argv) {
  return check_insertion(size_argument(argc, argv, 1024),
                         [](int blocks, int threads, Table table, const unsigned int* keys,
                            int count) { insert<<<blocks, threads>>>(table, keys, count); });
}
