// Kernels for owned_memory_test.cpp, one for each shape of address.
#include <cuda_runtime.h>

#define KERNEL extern "C" __global__ void

constexpr int kTile = 8;

__device__ int index_x() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

KERNEL map(float* out, const float* in, int n) {
  const int i = index_x();
  if (i < n) {
    out[i] = in[i] * 2;
  }
}

KERNEL update(float* out, float* unused, int n) {
  const int i = index_x();
  if (i < n) {
    out[i] += 1;
  }
}

KERNEL pairs(float2* out, const float2* in, int n) {
  const int i = index_x();
  if (i < n / 2) {
    const float2 value = in[i];
    out[i] = make_float2(value.y, value.x);
  }
}

KERNEL grid_stride(float* out, const float* in, int n) {
  for (int i = index_x(); i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i] + 1;
  }
}

KERNEL long_grid_stride(double* out, const double* in, size_t n) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x) {
    out[i] = in[i] + 1;
  }
}

KERNEL copied_counter(float* out, const float* in, int n) {
  int i = index_x();
  while (i < n) {
    const int next = i + gridDim.x * blockDim.x;
    out[i] = static_cast<float>(next);
    i = next;
  }
}

KERNEL transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += 2) {
    tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += 2) {
    out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}

KERNEL unrolled(float* out, const float* in, int pitch) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out += y * pitch + x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[i * 8] = in[i];
  }
}

KERNEL planes(float* out, const float* in, int width, int height, int depth) {
  int i = (blockIdx.y * blockDim.y + threadIdx.y) * width + index_x();
  for (int z = 0; z < depth; ++z) {
    out[i] = in[i] * 2;
    i += width * height;
  }
}

// A picture whose width is no multiple of the block's.
KERNEL picture(float* out, const float* in, int width, int height) {
  const int x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    out[y * width + x] = in[y * width + x] * 2;
  }
}

KERNEL left_early(float* out, const float* in, unsigned width, unsigned height) {
  const unsigned x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > width - 1 || y >= height) {
    return;
  }
  out[size_t{y} * width + x] = in[0];
}

KERNEL guarded_rows(float* out, const float* in, int width, int height) {
  const int x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < height) {
    out[y * width + x] = in[0];
  }
}

KERNEL one_too_many(float* out, const float* in, int width, int height) {
  const int x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x <= width && y < height) {
    out[y * width + x] = in[0];
  }
}

KERNEL guarded_in_part(float* out, const float* in, int width, int height) {
  const int x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width) {
    out[y * width + x] = in[0];
  }
  if (in[2] > 0) {
    out[y * width + x] = in[1];
  }
}

KERNEL guarded_at_last(float* out, const float* in, int width, int height) {
  const int x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (in[2] > 0) {
    out[y * width + x] = in[1];
  }
  if (x < width) {
    out[y * width + x] = in[0];
  }
}

KERNEL long_guard(float* out, const float* in, size_t most, int width) {
  const size_t x = index_x();
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < most) {
    out[y * width + x] = in[0];
  }
}

KERNEL either(float* out, const float* in, int width, int height) {
  const int x = index_x(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width || y < height) {
    out[y * width + x] = in[0];
  }
}

KERNEL padded_rows(float* out, const float* in, int n, unsigned step) {
  const unsigned row = blockIdx.x << 6 | threadIdx.x;
  out[row * step] = in[0];
}

KERNEL mirrored(float* out, const float* in, int n) {
  out[n - 1 - index_x()] = in[0];
}

KERNEL shifted_halves(float* out, const float* in, int n) {
  const int i = index_x();
  out[i] = 1;
  out[i + n / 2] = 2;
}

KERNEL by_two(float* out, const float* in, int n) {
  out[index_x() / 2] = in[0];
}

KERNEL modulo(float* out, const float* in, int n) {
  out[index_x() % n] = in[0];
}

KERNEL neighbour(float* out, float* in, int n) {
  const int i = index_x();
  out[i] = out[i + 1];
}

KERNEL behind(float* out, const float* in, int n) {
  const int i = index_x();
  if (i > 0) {
    out[i - 1] = in[i];
  }
}

KERNEL small_step(float2* out, const float* in, int n) {
  float* const words = reinterpret_cast<float*>(out);
  *reinterpret_cast<float2*>(words + 2 * (index_x() / 1)) = make_float2(1, 2);
  *reinterpret_cast<float*>(words + index_x()) = in[0];
}

KERNEL multiplied(float* out, const float* in, unsigned factor) {
  out[index_x() * factor] = in[0];
}

KERNEL own_rows(float* out, const float* in, int n) {
  for (int i = 0; i < n; ++i) {
    out[index_x() * n + i] = in[i];
  }
}

KERNEL two_pointers(float* out, float* other, int n) {
  const int i = index_x();
  out[i] = other[i];
  other[i] = 0;
}

KERNEL counted(float* out, int* counter, int n) {
  out[index_x()] = 1;
  atomicAdd(counter, 1);
}

KERNEL compacted(float* out, int* counter, int n) {
  out[atomicAdd(counter, 1)] = 1;
}

KERNEL kept_number(int* out, int* counter, int n) {
  out[index_x()] = __shfl_sync(~0u, atomicAdd(counter, 32), 0) + threadIdx.x;
}

KERNEL decided(float* out, int* counter, int n) {
  if (atomicAdd(counter, 1) == n) {
    out[0] = 1;
  }
}

KERNEL decided_by_all(float* out, int* counter, int n) {
  __shared__ int ticket;
  if (threadIdx.x == 0) {
    ticket = atomicAdd(counter, 1);
  }
  __syncthreads();
  out[ticket] = 1;
}

KERNEL fenced(float* out, int* counter, int n) {
  const int place = atomicAdd(counter, 1);
  __threadfence();
  out[place] = 1;
}

KERNEL fenced_sum(float* out, int* counter, int n) {
  out[index_x()] = 1;
  __threadfence();
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

KERNEL counted_and_read(float* out, int* counter, int n) {
  atomicAdd(&counter[1], 1);
  out[index_x()] = counter[0];
}

KERNEL counted_in_two_sizes(float* out, int* counter, int n) {
  atomicAdd(counter, 1);
  atomicAdd(reinterpret_cast<unsigned long long*>(counter) + 1, 1ull);
}

KERNEL counted_by_block(float* out, int* counter, int n) {
  atomicAdd_block(counter, 1);
}

KERNEL told(float* out, volatile float* in, int n) {
  out[index_x()] = in[index_x()];
}

KERNEL of_block(float* out, const float* in, int n) {
  if (threadIdx.x == 0) {
    out[blockIdx.x] = in[0];
  }
}

KERNEL chased(float* out, float** in, int n) {
  out[index_x()] = *in[index_x()];
}

KERNEL hashed(float* out, const float* in, unsigned n) {
  unsigned i = index_x();
  for (unsigned round = 0; round < n; ++round) {
    if (i < n) {
      out[i] = in[0];
    }
    i += 2654435769u;
  }
}

// A step of a Walsh or Fourier transform: the low bits of the index stay, the others move.
KERNEL butterfly(float* out, const float* in, int stride) {
  const int i = index_x(), low = i & (stride - 1), at = ((i - low) << 1) + low;
  const float one = out[at], other = out[at + stride];
  out[at] = one + other;
  out[at + stride] = one - other;
}

// One of a bitonic sort, by unsigned numbers.
KERNEL exchange(unsigned* out, const unsigned* in, unsigned stride) {
  const unsigned i = index_x(), at = 2 * i - (i & (stride - 1));
  const unsigned one = out[at], other = out[at + stride];
  if (one > other) {
    out[at] = other;
    out[at + stride] = one;
  }
}

// Rows of 2^log2 elements, turned over.
KERNEL rows_of_powers(float* out, const float* in, unsigned log2) {
  const unsigned i = index_x(), row = i >> log2, column = i & ((1U << log2) - 1);
  out[column * 1024 + row] = in[i];
}

// Signed numbers: the compiler divides by 32 with two shifts.
KERNEL divided(float* out, const float* in, int n) {
  const int i = index_x();
  out[i / 32 * 33 + i % 32] = in[i];
}

KERNEL halved(float* out, const float* in, int n) {
  out[index_x() >> 1] = in[0];
}

KERNEL masked(float* out, const float* in, int mask) {
  out[index_x() & mask] = in[0];
}
