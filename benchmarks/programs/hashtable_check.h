// The hash table of hashtable.cu and hashtable_fenced.cu, and the check that every key is found
// once in its bucket.
#pragma once

#include <algorithm>

#include "benchmark_program.h"

struct Entry {
  unsigned int key;
  int next;  // -1: the last of its bucket
};

struct Table {
  Entry* entries;
  int* heads;
  int* locks;
  int bucket_count;
};

__host__ __device__ inline unsigned int bucket_of(unsigned int key, int bucket_count) {
  return (key * 2654435761U >> 7) % static_cast<unsigned int>(bucket_count);
}

template <typename Insert>
int check_insertion(int count, Insert insert) {
  constexpr int kThreads = 64;
  const int buckets = count / 8 + 1;
  Random random(31);
  std::vector<unsigned int> keys(static_cast<std::size_t>(count));
  for (unsigned int& key : keys) {
    key = random.next();
  }
  const DeviceArray<unsigned int> device_keys(keys);
  const DeviceArray<Entry> entries(keys.size());
  const DeviceArray<int> heads(std::vector<int>(static_cast<std::size_t>(buckets), -1));
  const DeviceArray<int> locks(static_cast<std::size_t>(buckets));
  const Table table{entries.data(), heads.data(), locks.data(), buckets};
  insert((count + kThreads - 1) / kThreads, kThreads, table, device_keys.data(), count);
  CUDA_CHECK(cudaGetLastError());

  const std::vector<Entry> chain = entries.host();
  const std::vector<int> first = heads.host();
  std::vector<unsigned int> found;
  for (int bucket = 0; bucket < buckets; ++bucket) {
    for (int entry = first[bucket]; entry >= 0 && found.size() < keys.size();
         entry = chain[entry].next) {
      expect_equal("bucket", bucket_of(chain[entry].key, buckets),
                   static_cast<unsigned int>(bucket));
      found.push_back(chain[entry].key);
    }
  }
  std::sort(found.begin(), found.end());
  std::sort(keys.begin(), keys.end());
  expect_equal("keys", found, keys);
  return result();
}
