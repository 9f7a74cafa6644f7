// Every atomic operation, with and without its result, between fences: what it leaves behind is
// logged.
template <typename T>
__device__ T all(T* p, T v) {
  T sum = atomicAdd(p, v) + atomicExch(p, v) + atomicMin(p, v) + atomicMax(p, v) +
          atomicCAS(p, v, T(3));
  sum += atomicAnd(p, v) + atomicOr(p, v) + atomicXor(p, v);
  atomicAdd(p, v);
  atomicExch(p, T(9));
  return sum;
}

__global__ void operations(int* i, unsigned* u, unsigned long long* l, float* f, double* d,
                           unsigned short* s) {
  __shared__ unsigned shared;
  __threadfence();
  i[1] = all(i, static_cast<int>(threadIdx.x));
  u[1] = all(u, threadIdx.x) + atomicInc(u, 7) + atomicDec(u, threadIdx.x);
  l[1] = all(l, 5ULL);
  f[1] = atomicAdd(f, 1.5F) + atomicExch(f, 2.0F);
  d[1] = atomicAdd(d, 1.5);
  s[1] = atomicCAS(s, static_cast<unsigned short>(1), static_cast<unsigned short>(threadIdx.x));
  atomicAdd(&shared, 1);
  atomicAdd_block(i, 1);
  atomicAdd_system(i, 1);
  __threadfence_system();
}

__global__ void relaxed_only(int* i) {
  atomicAdd(i, 1);
}
