// A whole program, to be linked with a shared, a static or no runtime.
__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
