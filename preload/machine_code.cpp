#include "preload/machine_code.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <dlfcn.h>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/cache_folder.h"
#include "base/file.h"
#include "base/log.h"
#include "fatbin/own_images.h"
#include "jit/code_cache.h"
#include "preload/driver_library.h"
#include "preload/hook.h"
#include "preload/process.h"
#include "session/warp_collectives.h"

namespace barracuda::preload {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string folder_of_this_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&folder_of_this_library), &info) == 0) {
    return {};
  }
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

// Null if the driver is to compile everything. Never destroyed: the driver may read code while the
// process ends.
jit::CodeCache* code_cache() {
  static jit::CodeCache* const made = []() -> jit::CodeCache* {
    const std::string folder = cache_folder(process_options());
    const jit::Compiler compiler(folder_of_this_library() + "/barracuda-compiler");
    if (folder.empty() || device_choice() == DeviceChoice::kEmulated) {
      return nullptr;
    }
    if (!compiler.exists()) {
      log(Folder::kPreload, LogLevel::kInfo,
          "there is no barracuda-compiler beside libbarracuda.so: the driver compiles, and nothing "
          "is kept in jit-cache");
      return nullptr;
    }
    return new jit::CodeCache(FileCache(folder, process_options().jit_cache_size * kMiB), compiler);
  }();
  return made;
}

// What of the device decides on the code; nothing if that is not known.
std::optional<int> architecture_of(CUdevice device) {
  static const auto attribute = DRIVER_FUNCTION(cuDeviceGetAttribute);
  int major = 0;
  int minor = 0;
  if (attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
      attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  constexpr int kTen = 10;
  return major * kTen + minor;
}

std::optional<int> architecture_of_current() {
  static const auto current_device = DRIVER_FUNCTION(cuCtxGetDevice);
  CUdevice device = 0;
  return current_device(&device) == CUDA_SUCCESS ? architecture_of(device) : std::nullopt;
}

// Nothing where there are several.
std::optional<int> architecture_of_all() {
  static const auto count_devices = DRIVER_FUNCTION(cuDeviceGetCount);
  static const auto get_device = DRIVER_FUNCTION(cuDeviceGet);
  int count = 0;
  std::optional<int> common;
  if (count_devices(&count) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    const std::optional<int> one =
        get_device(&device, ordinal) == CUDA_SUCCESS ? architecture_of(device) : std::nullopt;
    if (!one || (common && common != one)) {
      return std::nullopt;
    }
    common = one;
  }
  return common;
}

// "90a" of a text ".target sm_90a, …": code for features of that architecture only is asked for by
// the same letter.
std::string_view target_letter(std::string_view text) {
  constexpr std::string_view kTarget = "\n.target sm_";
  const std::size_t at = text.find(kTarget);
  if (at == text.npos) {
    return {};
  }
  const std::size_t letter = text.find_first_not_of("0123456789", at + kTarget.size());
  const bool is_letter = letter != text.npos && (text[letter] == 'a' || text[letter] == 'f');
  return is_letter ? text.substr(letter, 1) : std::string_view();
}

// The driver's version, of which the compiler's must not be ahead; with the kernel module's, which
// tells builds of one version apart.
std::optional<std::string> driver_identity() {
  static const auto get_version = DRIVER_FUNCTION(cuDriverGetVersion);
  constexpr int kMajor = 1000;
  constexpr int kMinor = 10;
  const std::string_view compiler = jit::Compiler::version();
  int version = 0;
  int major = 0;
  int minor = 0;
  const char* const end = compiler.end();
  const char* const dot = std::from_chars(compiler.begin(), end, major).ptr;
  if (dot != end) {
    std::from_chars(dot + 1, end, minor);
  }
  if (get_version(&version) != CUDA_SUCCESS || version < major * kMajor + minor * kMinor) {
    return std::nullopt;
  }
  static const auto& kernel_module =
      *new std::string(read_file("/proc/driver/nvidia/version").value_or(""));
  return fmt::format("{} {}", version, kernel_module);
}

// Nothing where only the driver can do it.
std::optional<jit::Request> request_for(std::string_view text, const JitOptions& options,
                                        bool is_library) {
  const std::optional<int> architecture =
      is_library ? architecture_of_all() : architecture_of_current();
  std::optional<std::vector<std::string>> flags = options.compiler_flags();
  std::optional<std::string> driver = driver_identity();
  if (!architecture || !flags || !driver) {
    return std::nullopt;
  }
  flags->push_back(fmt::format("--gpu-name=sm_{}{}", *architecture, target_letter(text)));
  // In place of a level that the program names, with which hooks are copied and a kernel may hang
  // (docs/decisions/jit-cache.md). Without optimisation they are called as well.
  const auto is_level = [](const std::string& flag) { return flag.starts_with(jit::kLevel); };
  const auto level = std::ranges::find_if(*flags, is_level);
  if (session::may_compile_fast(text) && (level == flags->end() || !level->ends_with("=0"))) {
    std::erase_if(*flags, is_level);
    flags->emplace_back(jit::kFastCompile);
  }
  return jit::Request{.text = text, .flags = std::move(*flags), .device = std::move(*driver)};
}

std::vector<jit::Request> requests_for(std::span<const std::string_view> texts,
                                       const JitOptions& options, bool is_library) {
  std::vector<jit::Request> requests;
  for (const std::string_view text : texts) {
    if (auto request = request_for(text, options, is_library)) {
      requests.push_back(std::move(*request));
    }
  }
  return requests;
}

void log_code(const jit::Code& code) {
  const char* const source = code.source == jit::CodeSource::kDisk       ? "was found in jit-cache"
                             : code.source == jit::CodeSource::kCompiler ? "was compiled"
                                                                         : "is loaded once more";
  log(Folder::kPreload, LogLevel::kInfo, "a module %s%s%s%s", source,
      code.bytes.empty() ? ", which is the driver's to compile" : "",
      code.message.empty() ? "" : ": ", code.message.c_str());
}

}  // namespace

bool loads_all_at_once() {
  static const auto get_mode = DRIVER_FUNCTION(cuModuleGetLoadingMode);
  CUmoduleLoadingMode mode{};
  return get_mode(&mode) == CUDA_SUCCESS && mode == CU_MODULE_EAGER_LOADING;
}

bool compiles_here() {
  return code_cache() != nullptr;
}

void compile_ahead(std::span<const std::string_view> texts, const JitOptions& options,
                   bool is_library) {
  ASSERT(compiles_here());
  code_cache()->compile_ahead(requests_for(texts, options, is_library));
}

// Sites get their numbers in the order in which images are prepared, which is that of the file.
void compile_program_ahead(session::Session& session, const JitOptions& options) {
  static std::atomic<bool> is_first = true;
  if (!is_first.exchange(false) || !compiles_here() || !loads_all_at_once()) {
    return;
  }
  std::vector<std::string_view> texts;
  for (const void* const image : fatbin::own_images()) {
    const session::ProgramImage& prepared = session.images().prepare(image);
    if (prepared.logs()) {
      texts.push_back(prepared.text);
    }
  }
  std::vector<jit::Request> requests = requests_for(texts, options, true);
  if (requests.size() > 1) {
    log(Folder::kPreload, LogLevel::kInfo, "%zu modules are compiled ahead", requests.size());
    code_cache()->compile_ahead(std::move(requests));
  }
}

std::string_view find_machine_code(const std::string& text, const JitOptions& options,
                                   bool is_library) {
  jit::CodeCache* const cache = code_cache();
  const std::optional<jit::Request> request =
      cache != nullptr ? request_for(text, options, is_library) : std::nullopt;
  if (!request) {
    return {};
  }
  const jit::Code code = cache->find_or_compile(*request);
  log_code(code);
  return code.bytes;
}

bool has_machine_code(const std::string& text, const JitOptions& options, bool is_library) {
  jit::CodeCache* const cache = code_cache();
  const std::optional<jit::Request> request =
      cache != nullptr ? request_for(text, options, is_library) : std::nullopt;
  return request && cache->is_at_hand(*request);
}

void forget_machine_code(const std::string& text, const JitOptions& options, bool is_library,
                         bool takes_text) {
  log(Folder::kPreload, LogLevel::kInfo, "the driver refused a module's machine code, %s",
      takes_text ? "and compiles it itself" : "and its text");
  ASSERT(code_cache() != nullptr);  // from where the driver had it
  if (const auto request = request_for(text, options, is_library)) {
    code_cache()->forget(*request, takes_text);
  }
}

}  // namespace barracuda::preload
