#include "report/toolkit_path.h"

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

TEST_CASE("headers of CUDA and CCCL are known wherever they are installed") {
  for (const char* const path : {
           "/usr/local/cuda/include/cuda_fp16.hpp",
           "/usr/local/cuda-13.0/include/cuda/std/atomic",
           "/usr/local/cuda/bin/../targets/x86_64-linux/include/cooperative_groups.h",
           "/opt/build/cuda/nvidia/cu13/include/cccl/cub/block/block_scan.cuh",
           "/home/me/third_party/cccl/libcudacxx/include/cuda/__atomic/types.h",
           "/home/me/thrust/thrust/detail/vector_base.h",
           "/usr/include/sm_20_intrinsics.hpp",
           "/usr/include/cooperative_groups.h",
           "cooperative_groups.h",
       }) {
    INFO(path);
    CHECK(is_toolkit_header(path));
  }
}

TEST_CASE("functions of CCCL are known by their namespaces") {
  for (const char* const theirs :
       {"cudaError thrust::cuda_cub::triple_chevron::doit_host<int>(void (*)(int)) const",
        "cub::DeviceScan::Sum(int*)", "void cuda::std::swap<int>(int&, int&)"}) {
    CHECK(is_toolkit_function(theirs));
  }
  for (const char* const own :
       {"main", "", "sort(thrust::device_vector<int>&)", "ours::thrust::run()",
        "thrust::device_vector<int> ours::load(char const*)", "cubic::fit(int)"}) {
    CHECK_FALSE(is_toolkit_function(own));
  }
}

TEST_CASE("the program's own files are not taken for CUDA's") {
  for (const char* const path : {
           "/src/app.cu",
           "/home/me/project/include/cuda/kernels.cuh",
           "/home/me/cuda/include_me.cu",
           "/home/cuda-user/src/kernel.cu",
           "include/reduce.cuh",
           "/home/me/targets/linux/include/a.h",
           "",
       }) {
    INFO(path);
    CHECK_FALSE(is_toolkit_header(path));
  }
}

}  // namespace
}  // namespace barracuda::report
