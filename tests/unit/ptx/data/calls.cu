// Device functions: recursive, by pointer, virtual, with structures by value, and a switch.
struct Big {
  double values[5];
  char tag;
};

__device__ __noinline__ Big scale(Big big, double factor) {
  for (double& value : big.values) {
    value *= factor;
  }
  return big;
}

__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

struct Shape {
  __device__ virtual float area() const = 0;
};

struct Square : Shape {
  float side;

  __device__ explicit Square(float s) : side(s) {}

  __device__ float area() const override { return side * side; }
};

struct Circle : Shape {
  float radius;

  __device__ explicit Circle(float r) : radius(r) {}

  __device__ float area() const override { return 3.14159F * radius * radius; }
};

using Operation = int (*)(int, int);

__device__ __noinline__ int add(int a, int b) {
  return a + b;
}

__device__ __noinline__ int divide(int a, int b) {
  return b == 0 ? 0 : a / b;
}

__device__ Operation g_operations[2] = {add, divide};

__global__ void calls(Big* bigs, int* out, int selector) {
  bigs[threadIdx.x] = scale(bigs[threadIdx.x], 2.0);
  out[0] = static_cast<int>(fibonacci(threadIdx.x & 7));
  Square square(3);
  Circle circle(2);
  const Shape* shape = selector > 1 ? static_cast<const Shape*>(&square) : &circle;
  out[1] = static_cast<int>(shape->area());
  out[2] = g_operations[selector & 1](selector, 3);
  switch (selector) {
    case 0:
      out[3] = 5;
      break;
    case 1:
      out[4] = 6;
      break;
    case 2:
      out[5] = 7;
      [[fallthrough]];
    case 3:
      out[6] = 8;
      break;
    case 17:
      out[7] = 9;
      return;
    default:
      out[8] = selector;
  }
}
