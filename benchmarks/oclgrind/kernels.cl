// The kernels of benchmarks/speed/device_speed.cu, for OpenCL.
#define NUMBERS (1 << 18)
#define THREADS 256
#define BINS 256
#define MATRIX 128
#define SIDE 512

kernel void reduction(global const uint* numbers, global uint* sums) {
  local uint partial[THREADS];
  const uint thread = get_local_id(0);
  partial[thread] = numbers[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = get_local_size(0) / 2; stride > 0; stride /= 2) {
    if (thread < stride) {
      partial[thread] += partial[thread + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (thread == 0) {
    sums[get_group_id(0)] = partial[0];
  }
}

kernel void matrix(global const float* a, global const float* b, global float* product) {
  const uint row = get_global_id(1);
  const uint column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < MATRIX; ++k) {
    sum += a[row * MATRIX + k] * b[k * MATRIX + column];
  }
  product[row * MATRIX + column] = sum;
}

kernel void histogram(global const uint* numbers, global uint* bins) {
  local uint counts[BINS];
  const uint thread = get_local_id(0);
  counts[thread] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < NUMBERS; i += get_global_size(0)) {
    atomic_inc(&counts[numbers[i] % BINS]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[thread], counts[thread]);
}

kernel void stencil(global const float* before, global float* after) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  if (x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1) {
    return;
  }
  const uint i = y * SIDE + x;
  after[i] = 0.5f * before[i] +
             0.125f * (before[i - 1] + before[i + 1] + before[i - SIDE] + before[i + SIDE]);
}
