#include "report/library_file.h"

#include <algorithm>
#include <array>

#include "report/python_file.h"

namespace barracuda::report {
namespace {

// Where installed libraries lie, which are no part of the program.
constexpr std::array<std::string_view, 4> kSystemFolders = {"/usr/lib", "/lib", "/usr/local/lib",
                                                            "/usr/local/cuda"};

// Libraries with kernels of their own, wherever they lie.
constexpr std::array<std::string_view, 18> kLibraries = {
    "libcublas",   "libcudnn",      "libcufft", "libcurand",    "libcusolver",   "libcusparse",
    "libcutensor", "libnccl",       "libnpp",   "libnvjpeg",    "libnvshmem",    "libnvinfer",
    "libmagma",    "libtorch_cuda", "libcudss", "libcuquantum", "libcustatevec", "libcuvs"};

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_known_library(std::string_view path) {
  return std::ranges::any_of(kLibraries, [name = name_in(path)](std::string_view library) {
    return name.starts_with(library);
  });
}

bool is_installed(std::string_view path) {
  return is_of_python_package(path) ||
         std::ranges::any_of(kSystemFolders,
                             [path](std::string_view folder) { return path.starts_with(folder); });
}

bool is_shared_object(std::string_view path) {
  return name_in(path).find(".so") != path.npos;
}

}  // namespace

std::string library_of_files(std::string_view image_file, std::string_view caller_file) {
  const std::string_view file = image_file.empty() ? caller_file : image_file;
  const bool is_library = is_shared_object(file) &&
                          (is_known_library(file) || (!image_file.empty() && is_installed(file)));
  return is_library ? std::string(name_in(file)) : "";
}

}  // namespace barracuda::report
