// Prefix sums after CUB 1.4: a tile publishes its own sum (SetPartial) and then the sum of all
// tiles up to it (SetInclusive), each time the value, a fence and the status; it adds up what the
// tiles before it have published. The blocks first make the descriptors empty and meet at a barrier
// of the grid (Sync). CUB has the fences F1 in Sync, F2 in SetInclusive and F3 in SetPartial, and
// none on the reading sides.
//
// expect: none
// weak: never
// variant f1_f2_f3: -DREAD_FENCES=0
// expect f1_f2_f3: race inter-block global
// weak f1_f2_f3: fails
// fence f1_f2_f3: READ_FENCES, acq_rel gpu
// behind f1_f2_f3: LOAD_CG(tiles.status + before
// variant f1_f2: -DREAD_FENCES=0 -DF3=0
// expect f1_f2: race inter-block global
// weak f1_f2: fails
// fence f1_f2: F3, acq_rel gpu, --stores-only
// behind f1_f2: STORE_CG(tiles.partial + tile, sum)
// variant f1_f3: -DREAD_FENCES=0 -DF2=0
// expect f1_f3: race inter-block global
// weak f1_f3: fails
// fence f1_f3: F2, acq_rel gpu, --stores-only
// behind f1_f3: STORE_CG(tiles.inclusive + tile, sum)
// variant f2_f3: -DREAD_FENCES=0 -DF1=0
// expect f2_f3: race inter-block global
// weak f2_f3: fails
// fence f2_f3: F1, acq_rel gpu, --stores-only
// behind f2_f3: STORE_CG(tiles.status + tile, kInvalid)
// variant no_fence: -DREAD_FENCES=0 -DF1=0 -DF2=0 -DF3=0
// expect no_fence: race inter-block global
// weak no_fence: fails
// fence no_fence: F1 F2 F3, acq_rel gpu, --stores-only --random
// behind no_fence: STORE_CG(tiles.status + tile, kInvalid)
// behind no_fence: STORE_CG(tiles.inclusive + tile, sum)
// behind no_fence: STORE_CG(tiles.partial + tile, sum)
#include "weak.h"

#ifndef F1
#  define F1 1
#endif
#ifndef F2
#  define F2 1
#endif
#ifndef F3
#  define F3 1
#endif
#ifndef READ_FENCES
#  define READ_FENCES 1
#endif

constexpr int kThreads = 64;
constexpr int kBlocks = 8;
constexpr int kTiles = 16;
constexpr int kCount = kTiles * kThreads;
// Without F1 a status may be made empty after it was set, for good: nobody looks more often than
// this.
constexpr int kPatience = 1 << 18;

enum Status { kInvalid, kPartial, kInclusive };

// CUB's ThreadStore<STORE_CG> and ThreadLoad<LOAD_CG>: plain accesses of the L2 that the compiler
// leaves where they are.
#define STORE_CG(pointer, value) \
  asm volatile("st.global.cg.s32 [%0], %1;" ::"l"(pointer), "r"(value))
#define LOAD_CG(pointer, value) \
  asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(value) : "l"(pointer))

// A descriptor a tile, in three arrays.
struct Tiles {
  int* status;
  int* partial;
  int* inclusive;
};

__device__ void sync_grid(volatile int* arrived) {
  if (F1) {
    __threadfence();
  }
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      arrived[0] = 1;
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x) {
      while (arrived[threadIdx.x] == 0) {  // RACE
      }
      if (READ_FENCES) {
        __threadfence();
      }
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x) {
      if (READ_FENCES) {
        __threadfence();
      }
      arrived[threadIdx.x] = 0;  // RACE
    }
  } else {
    if (threadIdx.x == 0) {
      if (READ_FENCES) {
        __threadfence();
      }
      arrived[blockIdx.x] = 1;            // RACE
      while (arrived[blockIdx.x] == 1) {  // RACE
      }
      if (READ_FENCES) {
        __threadfence();
      }
    }
    __syncthreads();
  }
}

__device__ void set_inclusive(const Tiles& tiles, int tile, int sum) {
  STORE_CG(tiles.inclusive + tile, sum);  // RACE
  if (F2) {
    __threadfence();
  }
  STORE_CG(tiles.status + tile, kInclusive);  // RACE
}

__device__ void set_partial(const Tiles& tiles, int tile, int sum) {
  STORE_CG(tiles.partial + tile, sum);  // RACE
  if (F3) {
    __threadfence();
  }
  STORE_CG(tiles.status + tile, kPartial);  // RACE
}

// The sum of all tiles before this one.
__device__ int look_back(const Tiles& tiles, int tile) {
  int sum = 0;
  for (int before = tile - 1; before >= 0; --before) {
    int status = kInvalid, value;
    for (int look = 0; look < kPatience && status == kInvalid; ++look) {
      LOAD_CG(tiles.status + before, status);  // RACE
    }
    if (READ_FENCES) {
      __threadfence();
    }
    if (status == kInclusive) {
      LOAD_CG(tiles.inclusive + before, value);  // RACE
      return sum + value;
    }
    LOAD_CG(tiles.partial + before, value);  // RACE
    sum += value;
  }
  return sum;
}

__device__ int scan_of_block(int mine, int* sums) {
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    const int other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] = mine += other;
    __syncthreads();
  }
  return mine;
}

__global__ void scan(const int* in, int* out, Tiles tiles, int* arrived) {
  __shared__ int sums[kThreads];
  __shared__ int prefix;
  // The descriptors hold what an earlier scan left. A block clears those that others will set.
  if (threadIdx.x < kTiles / kBlocks) {
    const int tile = (blockIdx.x + 1) % kBlocks + threadIdx.x * kBlocks;
    STORE_CG(tiles.status + tile, kInvalid);  // RACE
  }
  sync_grid(arrived);
  for (int tile = blockIdx.x; tile < kTiles; tile += kBlocks) {
    const int i = tile * kThreads + threadIdx.x;
    const int mine = scan_of_block(in[i], sums);
    if (threadIdx.x == 0) {
      const int sum = sums[kThreads - 1];
      if (tile != 0) {
        set_partial(tiles, tile, sum);
      }
      prefix = look_back(tiles, tile);
      set_inclusive(tiles, tile, prefix + sum);
    }
    __syncthreads();
    out[i] = prefix + mine;
    __syncthreads();
  }
}

int run_round() {
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) {
    values[i] = i % 13 + 1;
  }
  int* const out = device_array<int>(kCount);
  Tiles tiles{to_device(std::vector<int>(kTiles, kInclusive)), device_array<int>(kTiles, 0xff),
              device_array<int>(kTiles, 0xff)};
  int* in = to_device(values);
  int* arrived = device_array<int>(kBlocks);
  void* arguments[] = {&in, const_cast<int**>(&out), &tiles, &arrived};
  require(cudaLaunchCooperativeKernel(scan, dim3(kBlocks), dim3(kThreads), arguments, 0, nullptr));
  finish_kernels();
  const std::vector<int> result = to_host(out, kCount);
  long long right = 0;
  int sum = 0;
  for (int i = 0; i < kCount; ++i) {
    right += result[i] == (sum += values[i]);
  }
  return conclude("prefix sums that are right:", right, kCount);
}
