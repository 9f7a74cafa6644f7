// Compiled in many ways by the tests of fatbin/.
__device__ int g_counter;

__global__ void count(int* out) {
  atomicAdd(&g_counter, 1);
  out[threadIdx.x] = g_counter;
}

extern "C" void launch_count(int* out) {
  count<<<1, 32>>>(out);
}
