#include "report/toolkit_path.h"

#include <algorithm>
#include <array>
#include <string>

#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

// Folders that only CUDA and CCCL have, wherever they are installed. A project's own "include/cuda"
// must not match.
constexpr std::array<std::string_view, 15> kFolders = {
    "/cuda/include/",
    "/cccl/",
    "/libcudacxx/",
    "/include/cub/",
    "/include/thrust/",
    "/cub/cub/",
    "/thrust/thrust/",
    "/include/cooperative_groups/",
    "/include/crt/",
    "/include/nv/",
    "/cuda/std/",
    "/include/cuda/__",
    "/cuda_runtime/include/",
    "/cuda_cccl/include/",
    "/nvidia/cu13/include/",
};

// Headers of a toolkit whose include folder is the system's (distributions put it there).
constexpr std::array<std::string_view, 22> kNames = {
    "cooperative_groups.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_helpers.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_fp8.h",
    "cuda_fp8.hpp",
    "cuda_pipeline.h",
    "cuda_pipeline_helpers.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "curand_kernel.h",
    "device_functions.h",
    "device_atomic_functions.h",
    "device_atomic_functions.hpp",
    "mma.h",
    "math_functions.hpp",
    "vector_functions.hpp",
    "vector_types.h",
};

// "/usr/local/cuda-13.0/include/x", "…/targets/x86_64-linux/include/x"
bool is_in_versioned_toolkit(std::string_view path) {
  for (std::size_t at = path.find("/include/"); at != std::string_view::npos;
       at = path.find("/include/", at + 1)) {
    const std::string_view before = path.substr(0, at);
    const std::size_t slash = before.rfind('/');
    const std::string_view folder =
        slash == std::string_view::npos ? before : before.substr(slash + 1);
    const bool is_target = folder.ends_with("-linux") &&
                           before.substr(0, before.size() - folder.size()).ends_with("/targets/");
    if (folder.starts_with("cuda-") || is_target) {
      return true;
    }
  }
  return false;
}

bool is_named_like_toolkit(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto is_intrinsics = [&] {
    return name.starts_with("sm_") &&
           (name.ends_with("_intrinsics.h") || name.ends_with("_intrinsics.hpp") ||
            name.ends_with("_atomic_functions.h") || name.ends_with("_atomic_functions.hpp"));
  };
  return std::ranges::find(kNames, name) != kNames.end() || is_intrinsics();
}

}  // namespace

bool is_toolkit_header(std::string_view path) {
  const auto contains = [&](std::string_view folder) {
    return path.find(folder) != std::string_view::npos;
  };
  return std::ranges::any_of(kFolders, contains) || is_in_versioned_toolkit(path) ||
         is_named_like_toolkit(path);
}

bool is_toolkit_function(std::string_view function) {
  constexpr std::string_view kNamespaces[] = {"thrust::", "cub::", "cuda::"};
  const std::string name = without_return_type(std::string(function));
  return std::ranges::any_of(kNamespaces,
                             [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace barracuda::report
