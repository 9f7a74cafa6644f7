// Static, dynamic and two-dimensional shared memory, vectors, local arrays, textures of constants.
extern __shared__ float4 dynamic[];

__global__ void __launch_bounds__(256, 2)
    transpose(const float* __restrict__ in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[x * n + y] = tile[threadIdx.x][threadIdx.y];
}

__global__ void vectors(const float4* in, float4* out, short2* shorts, int n) {
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float4 sum = {};
  for (int i = 0; i < n; ++i) {
    const float4 value = dynamic[i];
    sum.x += value.x;
    sum.w += sqrtf(value.y) + sinf(value.z);
  }
  out[threadIdx.x] = sum;
  shorts[threadIdx.x] = make_short2(static_cast<short>(n), 3);
  int local[40];
  for (int i = 0; i < 40; ++i) {
    local[(i * n) % 40] = i;
  }
  out[threadIdx.x + 1].x = static_cast<float>(local[n % 40]);
  if (__syncthreads_count(sum.x > 1) > 3 && __syncthreads_or(n)) {
    out[0].y = 1;
  }
}
