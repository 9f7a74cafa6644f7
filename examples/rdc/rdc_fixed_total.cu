// The other translation unit of rdc_fixed.cu.
__device__ int total = 0;

__device__ void add_to_total(int value) {
  atomicAdd(&total, value);
}
