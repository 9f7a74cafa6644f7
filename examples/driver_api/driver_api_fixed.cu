// The kernel of driver_api.cpp, compiled to PTX: nvcc -ptx.
// expect: none
extern "C" __global__ void count(int* counter) {
  atomicAdd(counter, 1);
}
