// The kernel of driver_api.cpp, compiled to PTX: nvcc -ptx.
// expect: race inter-block global
extern "C" __global__ void count(int* counter) {
  *counter = *counter + 1;  // RACE
}
