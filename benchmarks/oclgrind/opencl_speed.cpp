// How fast an OpenCL device executes one kernel of kernels.cl: opencl_speed FILE KERNEL LAUNCHES
// prints what benchmarks/speed/device_speed.cu prints. A launch before them does not count.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kNumbers = 1 << 18;
constexpr std::size_t kMatrix = 128;
constexpr std::size_t kTile = 16;
constexpr std::size_t kSide = 512;

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) {
    std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
    std::exit(1);
  }
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Shape {
  cl_uint dimensions;
  std::size_t global[2], local[2];
};

struct Case {
  const char* name;
  int inputs;
  Shape shape;
};

constexpr Case kCases[] = {
    {"reduction", 1, {1, {kNumbers, 1}, {256, 1}}},
    {"matrix", 2, {2, {kMatrix, kMatrix}, {kTile, kTile}}},
    {"histogram", 1, {1, {std::size_t{64} * 256, 1}, {256, 1}}},
    {"stencil", 1, {2, {kSide, kSide}, {kTile, kTile}}},
};

const Case& find_case(const char* name) {
  for (const Case& one : kCases) {
    if (std::strcmp(one.name, name) == 0) {
      return one;
    }
  }
  std::fprintf(stderr, "no kernel %s\n", name);
  std::exit(2);
}

struct Device {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue queue = nullptr;
};

Device open_device() {
  Device d;
  cl_platform_id platform = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "platform");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.device, nullptr), "device");
  cl_int status = CL_SUCCESS;
  d.context = clCreateContext(nullptr, 1, &d.device, nullptr, nullptr, &status);
  check(status, "context");
  d.queue = clCreateCommandQueue(d.context, d.device, 0, &status);
  check(status, "queue");
  return d;
}

cl_kernel build(const Device& d, const char* file, const char* name) {
  std::ifstream stream(file);
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  const char* source = text.c_str();
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(d.context, 1, &source, nullptr, &status);
  check(status, file);
  check(clBuildProgram(program, 1, &d.device, "", nullptr, nullptr), "build");
  cl_kernel kernel = clCreateKernel(program, name, &status);
  check(status, name);
  return kernel;
}

// Random bits are fine numbers, and floats once their exponent is that of 1.
void set_arguments(const Device& d, cl_kernel kernel, const Case& one) {
  const bool is_float =
      std::strcmp(one.name, "matrix") == 0 || std::strcmp(one.name, "stencil") == 0;
  std::vector<std::uint32_t> words(kNumbers);
  std::uint64_t state = 3;
  for (auto& word : words) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    word = static_cast<std::uint32_t>(state >> 32);
    word = is_float ? (word >> 9) | 0x3F800000U : word;
  }
  const std::vector<std::uint32_t> zeros(kNumbers);
  for (int i = 0; i <= one.inputs; ++i) {
    const auto& values = i < one.inputs ? words : zeros;
    cl_int status = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(d.context, CL_MEM_READ_WRITE, kNumbers * 4, nullptr, &status);
    check(status, "buffer");
    check(clEnqueueWriteBuffer(d.queue, buffer, CL_TRUE, 0, kNumbers * 4, values.data(), 0, nullptr,
                               nullptr),
          "write");
    check(clSetKernelArg(kernel, static_cast<cl_uint>(i), sizeof(buffer), &buffer), "argument");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FILE KERNEL LAUNCHES\n", argv[0]);
    return 2;
  }
  const Case& one = find_case(argv[2]);
  const int launches = std::atoi(argv[3]);
  const Device d = open_device();
  cl_kernel kernel = build(d, argv[1], one.name);
  set_arguments(d, kernel, one);
  const auto launch = [&] {
    check(clEnqueueNDRangeKernel(d.queue, kernel, one.shape.dimensions, nullptr, one.shape.global,
                                 one.shape.local, 0, nullptr, nullptr),
          "launch");
    check(clFinish(d.queue), "finish");
  };
  launch();
  const double wall = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < launches; ++i) {
    launch();
  }
  std::printf(
      "{\"kernel\": \"%s\", \"launches\": %d, \"seconds\": %.6f, \"processor_seconds\": %.6f}\n",
      one.name, launches, seconds_of(CLOCK_MONOTONIC) - wall,
      seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor);
  return 0;
}
