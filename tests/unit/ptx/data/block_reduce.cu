// CUB: block reduce, scan and radix sort, warp reduce.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

__global__ void reduce(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Sort = cub::BlockRadixSort<unsigned, 128, 4>;

  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
    Sort::TempStorage sort;
  } storage;

  const int sum = Reduce(storage.reduce).Sum(in[threadIdx.x]);
  __syncthreads();
  int scanned = 0;
  Scan(storage.scan).InclusiveSum(sum, scanned);
  __syncthreads();
  unsigned keys[4] = {1U, static_cast<unsigned>(sum), 3U, static_cast<unsigned>(scanned)};
  Sort(storage.sort).Sort(keys);
  out[threadIdx.x] = sum + scanned + static_cast<int>(keys[2]);
}
