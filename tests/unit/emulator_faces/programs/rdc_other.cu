__device__ int g_shared_total = 7;

static __device__ int offset() {
  return 2;
}

__device__ int triple(int value) {
  return 3 * value + offset();
}
