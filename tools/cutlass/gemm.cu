// A product by one of CUTLASS's kernels for sm_90, which it checks itself (tools/try_cutlass.py): a
// small one, or one of the size that is given, which it times. KERNEL: 0 ping-pong, 1 cooperative
// in clusters of two, 2 stream-K, 3 without shared memory in the epilogue, 4 grouped and
// cooperative.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/group_array_problem_shape.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>
#include <cutlass/util/packed_stride.hpp>
#include <vector>

namespace {

using cute::_0;
using cute::_1;
using cute::_128;
using cute::_2;
using cute::_64;
using cute::Shape;
using cutlass::gemm::GemmUniversalMode;

constexpr bool kIsGrouped = KERNEL == 4;
using Cluster = std::conditional_t<KERNEL == 1, Shape<_2, _1, _1>, Shape<_1, _1, _1>>;
#if KERNEL == 0
using Tile = Shape<_64, _64, _64>;
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecialized;
using Scheduler = cutlass::gemm::PersistentScheduler;
#elif KERNEL == 1 || KERNEL == 2
using Tile = Shape<_128, _64, _64>;
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
using Scheduler = std::conditional_t<KERNEL == 2, cutlass::gemm::StreamKScheduler,
                                     cutlass::gemm::PersistentScheduler>;
#elif KERNEL == 3
using Tile = Shape<_128, _64, _64>;
using Schedule = cutlass::gemm::KernelTmaWarpSpecialized;
using EpilogueSchedule = cutlass::epilogue::NoSmemWarpSpecialized;
using Scheduler = void;
#else
using Tile = Shape<_128, _64, _64>;
using Schedule = cutlass::gemm::KernelPtrArrayTmaWarpSpecializedCooperative;
using EpilogueSchedule = cutlass::epilogue::PtrArrayTmaWarpSpecializedCooperative;
using Scheduler = void;
#endif

// Of a group: a layout for each of its products.
template <typename Layout>
using LayoutOf = std::conditional_t<kIsGrouped, Layout*, Layout>;
using Input = cutlass::half_t;
using Rows = LayoutOf<cutlass::layout::RowMajor>;
using Columns = LayoutOf<cutlass::layout::ColumnMajor>;
using Problem =
    std::conditional_t<kIsGrouped, cutlass::gemm::GroupProblemShape<Shape<int, int, int>>,
                       Shape<int, int, int, int>>;
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, float, Columns, 4, float,
    Columns, 4, EpilogueSchedule>::CollectiveOp;
using Loop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Input, Rows, 8, Input, Columns, 8, float,
    Tile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    Schedule>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Problem, Loop, Epilogue, Scheduler>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

struct Product {
  int m, n, k;
  std::vector<Input> a = {}, b = {};
  Input *on_device_a = nullptr, *on_device_b = nullptr;
  float *c = nullptr, *d = nullptr;

  void fill(int seed) {
    a.resize(m * k);
    b.resize(n * k);
    for (int i = 0; i < m * k; ++i) {
      a[i] = Input(static_cast<float>((i + seed) * 7 % 5 - 2));
    }
    for (int i = 0; i < n * k; ++i) {
      b[i] = Input(static_cast<float>((i + seed) * 3 % 7 - 3));
    }
    on_device_a = on_device(a);
    on_device_b = on_device(b);
    c = on_device(std::vector<float>(m * n));
    d = on_device(std::vector<float>(m * n));
  }

  // Of more than 256 rows or columns 128 all over the product are looked at: the processor takes
  // longer than the GPU.
  static int step_through(int count) { return count > 256 ? count / 128 : 1; }

  int wrong() const {
    std::vector<float> found(m * n);
    cudaMemcpy(found.data(), d, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int count = 0;
    for (int i = 0; i < m; i += step_through(m)) {
      for (int j = 0; j < n; j += step_through(n)) {
        float sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += static_cast<float>(a[i * k + l]) * static_cast<float>(b[j * k + l]);
        }
        count += sum != found[j * m + i] ? 1 : 0;
      }
    }
    return count;
  }
};

template <typename Stride>
Stride packed(int rows, int columns) {
  return cutlass::make_cute_packed_stride(Stride{}, {rows, columns, 1});
}

typename Gemm::Arguments arguments_of(const std::vector<Product>& products, int multiprocessors) {
  cutlass::KernelHardwareInfo hardware;
  hardware.device_id = 0;
  hardware.sm_count = multiprocessors;
#if KERNEL == 4
  std::vector<typename Problem::UnderlyingProblemShape> shapes;
  std::vector<const Input*> a, b;
  std::vector<const float*> c;
  std::vector<float*> d;
  std::vector<typename Kernel::InternalStrideA> of_a;
  std::vector<typename Kernel::InternalStrideB> of_b;
  std::vector<typename Kernel::InternalStrideC> of_c;
  std::vector<typename Kernel::InternalStrideD> of_d;
  for (const Product& each : products) {
    shapes.push_back({each.m, each.n, each.k});
    a.push_back(each.on_device_a);
    b.push_back(each.on_device_b);
    c.push_back(each.c);
    d.push_back(each.d);
    of_a.push_back(packed<typename Kernel::InternalStrideA>(each.m, each.k));
    of_b.push_back(packed<typename Kernel::InternalStrideB>(each.n, each.k));
    of_c.push_back(packed<typename Kernel::InternalStrideC>(each.m, each.n));
    of_d.push_back(packed<typename Kernel::InternalStrideD>(each.m, each.n));
  }
  typename Gemm::Arguments arguments;
  decltype(arguments.epilogue.thread) scaled{};
  scaled.alpha = 1;
  scaled.beta = 0;
  return {GemmUniversalMode::kGrouped,
          {static_cast<int>(shapes.size()), on_device(shapes), nullptr},
          {on_device(a), on_device(of_a), on_device(b), on_device(of_b)},
          {scaled, on_device(c), on_device(of_c), on_device(d), on_device(of_d)},
          hardware};
#else
  const Product& only = products.front();
  typename Gemm::Arguments arguments{
      GemmUniversalMode::kGemm,
      {only.m, only.n, only.k, 1},
      {only.on_device_a, packed<typename Kernel::StrideA>(only.m, only.k), only.on_device_b,
       packed<typename Kernel::StrideB>(only.n, only.k)},
      {{1, 0},
       only.c,
       packed<typename Kernel::StrideC>(only.m, only.n),
       only.d,
       packed<typename Kernel::StrideD>(only.m, only.n)},
      hardware};
#  if KERNEL == 2
  arguments.scheduler.splits = 2;
#  endif
  return arguments;
#endif
}

// Milliseconds of the fastest of ten launches; negative where one fails.
float fastest(Gemm& gemm) {
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = -1;
  for (int i = 0; i < 10; ++i) {
    cudaEventRecord(begin);
    const bool is_started = gemm.run() == cutlass::Status::kSuccess;
    cudaEventRecord(end);
    float took = 0;
    if (!is_started || cudaEventSynchronize(end) != cudaSuccess ||
        cudaEventElapsedTime(&took, begin, end) != cudaSuccess) {
      return -1;
    }
    best = best < 0 ? took : std::min(best, took);
  }
  return best;
}

}  // namespace

// Arguments: how long the sums are, if not 256; of 1024 they fill each buffer several times. Or
// rows, columns and how long the sums are, of a product on the whole device that is timed.
int main(int count, char** arguments_given) {
  const int k = count > 1 ? std::atoi(arguments_given[count - 1]) : 256;
  const bool is_timed = count == 4;
  std::vector<Product> products = {{256, 128, k}};
  int multiprocessors = 2;
  if (is_timed) {
    products = {{std::atoi(arguments_given[1]), std::atoi(arguments_given[2]), k}};
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  } else if (kIsGrouped) {
    products = {{128, 64, 128}, {192, 128, 64}, {128, 64, 192}};
  }
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i].fill(static_cast<int>(i));
  }
  const auto arguments = arguments_of(products, multiprocessors);
  Gemm gemm;
  void* workspace = nullptr;
  cudaMalloc(&workspace, Gemm::get_workspace_size(arguments) + 1);
  const bool is_started = gemm.initialize(arguments, workspace) == cutlass::Status::kSuccess &&
                          gemm.run() == cutlass::Status::kSuccess;
  const cudaError_t status = cudaDeviceSynchronize();
  int wrong = 0;
  for (const Product& product : products) {
    wrong += product.wrong();
  }
  std::printf("started %d, %s, %d wrong\n", is_started ? 1 : 0, cudaGetErrorString(status), wrong);
  if (is_timed && is_started) {
    std::printf("%.4f ms\n", fastest(gemm));
  }
  return is_started && status == cudaSuccess && wrong == 0 ? 0 : 1;
}
