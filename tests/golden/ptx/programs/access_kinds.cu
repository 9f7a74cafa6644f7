// Loads and stores of every size, space and cache form.
#include <cuda_fp16.h>

__device__ int counter;
__device__ float4 table[32];
__constant__ int limits[4];

struct Small {
  char a;
  short b;
  int c;
};

__global__ void sizes(char* c, short* s, int* i, long long* l, __half* h, float* f, double* d,
                      Small* small) {
  const int t = threadIdx.x;
  c[t] += 1;
  s[t] = static_cast<short>(c[t] + 2);
  i[t] = s[t];
  l[t] = i[t];
  h[t] = __float2half(f[t]);
  d[t] = f[t];
  small[t] = {c[t], s[t], i[t]};
}

__global__ void vectors(const float4* __restrict__ in, float4* out, int2* pairs, uchar4* bytes,
                        ushort2* halves) {
  const int t = threadIdx.x;
  out[t] = in[t];
  table[t % 32] = in[t];
  pairs[t] = make_int2(t, 7);
  bytes[t] = make_uchar4(1, 2, 3, static_cast<unsigned char>(t));
  halves[t] = make_ushort2(static_cast<unsigned short>(t), 4);
}

__global__ void spaces(int* global, int which) {
  __shared__ int shared[64];
  __shared__ double wide[8];
  extern __shared__ char dynamic[];
  int local[8] = {};
  local[which] = limits[which % 4];
  shared[threadIdx.x] = 1;
  wide[threadIdx.x % 8] = 0.5;
  dynamic[threadIdx.x] = 'x';
  __syncthreads();
  int* generic = which > 2 ? shared : which > 1 ? global : local;
  generic[which] = 5;
  *static_cast<volatile int*>(&shared[1]) = generic[0];
  counter += shared[which] + static_cast<int>(wide[0]) + dynamic[0] + local[which];
}

__global__ void cache_forms(int* p) {
  __stcg(p, __ldcg(p + 1));
  __stwt(p + 2, __ldcv(p + 3));
  p[4] = __ldg(p + 5);
}
