// Kernels whose registers are limited.
__global__ void __launch_bounds__(1024, 2) tight(const float* a, float* b, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += a[i] * a[n - i] + b[i];
    b[i] = sum;
  }
}

__global__ void __launch_bounds__(64) loose(int* p) {
  p[threadIdx.x] = p[threadIdx.x + 1];
}

__global__ void __maxnreg__(32) few_registers(int* p) {
  atomicAdd(p, 1);
  __threadfence();
  p[1] = 2;
}
