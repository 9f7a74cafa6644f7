// Calls by name, through pointers, virtual and recursive ones.
#include <new>

struct Shape {
  __device__ virtual int area() const = 0;
};

struct Square : Shape {
  int side;

  __device__ explicit Square(int s) : side(s) {}

  __device__ int area() const override { return side * side; }
};

__device__ __noinline__ void add(int* p) {
  atomicAdd(p, 1);
}

__device__ __noinline__ void store(int* p) {
  *p = 2;
}

__device__ __noinline__ int depth(int* p, int n) {
  return n == 0 ? *p : depth(p, n - 1) + p[n];
}

__device__ __noinline__ void synchronise(int* p) {
  __threadfence();
  *p = 1;
}

__device__ __noinline__ int pure(int n) {
  return n * n + 1;
}

using Operation = void (*)(int*);
__device__ Operation operations[2] = {add, store};

__global__ void indirect(int* p, int which) {
  operations[which](p);
}

__global__ void virtual_call(Shape* shape, int* p) {
  new (shape) Square(*p);
  *p = shape->area();
}

__global__ void recursive(int* p) {
  p[0] = depth(p, 3) + pure(p[1]);
}

__global__ void numbered(int* p) {
  synchronise(p);
  if (p[2] > 3) {
    return;
  }
  atomicAdd(p, 1);
}

__global__ void both(int* p) {
  add(p);
  if (threadIdx.x > 3) {
    asm volatile("exit;");
  }
  store(p);
}
