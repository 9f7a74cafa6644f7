#include "cli/program_caches.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include "base/cache_folder.h"
#include "cli/environment.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

struct Cache {
  std::string_view variable;
  std::string_view folder;
  bool only_if_set;  // without it the library keeps nothing
};

// Each says where, and nothing else: no result depends on it.
constexpr std::array kCaches = {
    Cache{.variable = "CUPY_CACHE_DIR", .folder = "cupy", .only_if_set = false},
    Cache{.variable = "NUMBA_CACHE_DIR", .folder = "numba", .only_if_set = false},
    Cache{.variable = "TRITON_CACHE_DIR", .folder = "triton", .only_if_set = false},
    Cache{.variable = "TORCHINDUCTOR_CACHE_DIR", .folder = "inductor", .only_if_set = false},
    Cache{.variable = "TORCH_EXTENSIONS_DIR", .folder = "torch_extensions", .only_if_set = false},
    Cache{.variable = "JAX_COMPILATION_CACHE_DIR", .folder = "jax", .only_if_set = true},
    Cache{.variable = "WARP_CACHE_PATH", .folder = "warp", .only_if_set = false},
    Cache{.variable = "TI_OFFLINE_CACHE_FILE_PATH", .folder = "taichi", .only_if_set = false},
};

// For this user alone, with all that leads to it below the cache.
bool make_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder.parent_path(), error) && !make_folder(folder.parent_path())) {
    return false;
  }
  (void)::mkdir(folder.c_str(), S_IRWXU);
  return fs::is_directory(folder, error);
}

}  // namespace

std::vector<std::string> own_program_caches(const Options& options,
                                            std::span<const std::string> environment) {
  const std::string kept = cache_folder(options);
  if (options.program_caches != "own" || kept.empty()) {
    return {};
  }
  // With the origins, so that who removes these removes both.
  const fs::path all = fs::path(kept) / "origins" / "programs";
  if (!make_folder(all) || !is_private_folder(all.parent_path()) || !is_private_folder(all)) {
    return {};
  }
  std::vector<std::string> set;
  for (const Cache& cache : kCaches) {
    if (cache.only_if_set && value_of(environment, cache.variable).empty()) {
      continue;
    }
    const fs::path folder = all / cache.folder;
    if (make_folder(folder) && is_private_folder(folder)) {
      set.push_back(std::string(cache.variable) + "=" + folder.string());
    }
  }
  return set;
}

}  // namespace barracuda::cli
