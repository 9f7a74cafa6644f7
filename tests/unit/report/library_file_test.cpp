#include "report/library_file.h"

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

constexpr const char kPackages[] = "/home/u/venv/lib/python3.11/site-packages/";

std::string in_packages(const std::string& file) {
  return kPackages + file;
}

TEST_CASE("an image in an installed library is the library's") {
  CHECK(library_of_files(in_packages("torch/lib/libtorch_cuda.so"),
                         in_packages("x/libcudart.so.12")) == "libtorch_cuda.so");
  CHECK(library_of_files("/usr/local/cuda/lib64/libcublas.so.13", "") == "libcublas.so.13");
  CHECK(library_of_files("/home/u/tools/libcudnn_ops.so.9", "") == "libcudnn_ops.so.9");
  CHECK(library_of_files(in_packages("flash_attn/flash.cpython-311-x86_64-linux-gnu.so"), "") ==
        "flash.cpython-311-x86_64-linux-gnu.so");
}

TEST_CASE("what the program's author built is the program's") {
  CHECK(library_of_files("/home/u/build/app", "").empty());
  CHECK(library_of_files("/usr/bin/app", "").empty());
  CHECK(library_of_files("/home/u/build/libmine.so", "/usr/lib/libcudart.so.13").empty());
  CHECK(library_of_files("/home/u/.cache/torch_extensions/py311/mine/mine.so", "").empty());
}

TEST_CASE("an image in memory is the program's, unless one of NVIDIA's libraries made it") {
  CHECK(library_of_files("", in_packages("triton/cuda_utils.so")).empty());
  CHECK(library_of_files("", in_packages("cupy/_cuda.cpython-311.so")).empty());
  CHECK(library_of_files("", in_packages("jaxlib/xla_cuda_plugin.so")).empty());
  CHECK(library_of_files("", "").empty());
  CHECK(library_of_files("", in_packages("nvidia/cufft/lib/libcufft.so.12")) == "libcufft.so.12");
}

}  // namespace
}  // namespace barracuda::report
