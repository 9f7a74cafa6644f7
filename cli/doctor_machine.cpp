#include "cli/doctor_machine.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sys/personality.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/cache_folder.h"
#include "base/driver_calls.h"
#include "base/driver_presence.h"
#include "cli/run_directory.h"
#include "cli/tool_library.h"
#include "report/coverage.h"
#include "report/dwarf.h"
#include "report/sentences.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

struct Gpu {
  std::string name;
  DeviceArch arch = 0;
};

// "13.0" of 13000.
std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Expected<Gpu> ask_gpu(const driver::Driver& driver, int device) {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
  std::array<char, 256> name{};
  int major = 0, minor = 0;
  const auto asked = driver::in_turn(
      [&] { return driver.call("cuDeviceGetName", name.data(), int{name.size()}, device); },
      [&] { return driver.call("cuDeviceGetAttribute", &major, kMajor, device); },
      [&] { return driver.call("cuDeviceGetAttribute", &minor, kMinor, device); });
  if (!asked) {
    return unexpected(asked.error());
  }
  return Gpu{.name = name.data(), .arch = static_cast<DeviceArch>(major * 10 + minor)};
}

// What the driver says of itself and of its GPUs.
Expected<Fact> ask_driver(DeviceArch& arch) {
  TRY(const driver::Driver driver, driver::Driver::open());
  int version = 0, count = 0;
  const auto asked = driver::in_turn([&] { return driver.call("cuInit", 0U); },
                                     [&] { return driver.call("cuDriverGetVersion", &version); },
                                     [&] { return driver.call("cuDeviceGetCount", &count); });
  if (!asked) {
    return unexpected(asked.error());
  }
  std::string text = "NVIDIA's driver, for CUDA up to " + cuda_version(version);
  for (int device = 0; device < count; ++device) {
    TRY(const Gpu gpu, ask_gpu(driver, device));
    arch = device == 0 ? gpu.arch : arch;
    text += fmt::format("; GPU {}: {} (sm_{})", device, gpu.name, gpu.arch);
  }
  if (count == 0) {
    return unexpected({.message = "it has no GPU for this process"});
  }
  return good(text);
}

Fact device_fact(const Options& options, DeviceArch& arch) {
  const bool is_wanted = options.device == "gpu";
  if (options.device == "cpu") {
    return good("kernels run on the emulated device, which needs no GPU (device=cpu)");
  }
  if (!gpu_device_node_exists()) {
    const std::string text =
        "there is no NVIDIA GPU here (neither /dev/nvidiactl, /dev/nvidia0 nor /dev/dxg)";
    const std::string cure =
        "if the machine has one: install NVIDIA's driver; in a container: docker run --gpus all";
    return is_wanted
               ? obstacle(text + ", and device=gpu asks for it", cure + "; or leave out device=gpu")
               : note(text +
                          ": kernels run on the emulated device, which is much slower "
                          "than a GPU",
                      cure);
  }
  if (!driver_is_present()) {
    return obstacle(
        std::string("there is a GPU, but its driver's library libcuda.so.1 cannot be loaded") +
            (is_wanted ? "" : ": kernels run on the emulated device"),
        "install the library with the driver (Debian: libcuda1; in a container: docker run --gpus "
        "all, with NVIDIA_DRIVER_CAPABILITIES=compute,utility); or say device=cpu");
  }
  auto asked = ask_driver(arch);
  if (!asked) {
    return obstacle("NVIDIA's driver does not work: " + asked.error().to_string(),
                    "see whether nvidia-smi works, what CUDA_VISIBLE_DEVICES says, and whether the "
                    "driver was updated without a restart; or say device=cpu");
  }
  return *std::move(asked);
}

Fact library_fact() {
  const auto library = find_tool_library();
  if (!library) {
    return obstacle(library.error().to_string(),
                    "keep bin/ and lib/ of the installation together; a link to bin/barracuda is "
                    "fine, a copy is not");
  }
  if (const auto runtimes = sanitizer_runtimes_of(*library); !runtimes.empty()) {
    return note(fmt::format("{} is built with {}: slow, and for the tool's own development",
                            *library, fmt::join(runtimes, ", ")));
  }
  return good("the library is beside the command: " + *library);
}

// Made and removed again: nothing else shows whether it can be made.
Fact spool_fact() {
  const std::string parent = parent_of_runs();
  if (const auto made = RunDirectory::create(); !made) {
    return obstacle("no folder for a run's findings: " + made.error().to_string(),
                    "set TMPDIR to a folder that you may write to");
  }
  std::error_code error;
  const fs::space_info space = fs::space(parent, error);
  const std::string text =
      fmt::format("findings are kept in {} while a program runs: it can be written", parent);
  constexpr std::uint64_t kFew = 64 * kMebibyte;
  if (!error && space.available < kFew) {
    return note(fmt::format("{}, but has {} MiB left", text, space.available / kMebibyte),
                "make room, or set TMPDIR to another folder");
  }
  const char* const asked = std::getenv("TMPDIR");
  if (asked != nullptr && fs::path(asked) != fs::path(parent)) {
    return note(
        fmt::format("{}; TMPDIR={} will not do", text, asked),
        "set TMPDIR to a folder of this machine's own disk or memory that you may write to, "
        "without a blank or colon in its name");
  }
  return good(text);
}

Fact dwarf_fact() {
  if (report::DwarfLibrary::load() != nullptr) {
    return good("libdw.so.1 is here: host lines are known also under a bare LD_PRELOAD");
  }
  return note("there is no libdw.so.1: barracuda run knows host lines, a bare LD_PRELOAD does not",
              "for the latter: " + std::string(report::kLibdwPackages));
}

// Asks for what `run` asks for with a seed, and takes it back: it would hold for what this process
// starts.
Fact rights_fact() {
  constexpr unsigned long kAsk = 0xffffffff;
  const int current = personality(kAsk);
  const bool may =
      current >= 0 && personality(static_cast<unsigned>(current) | ADDR_NO_RANDOMIZE) >= 0;
  if (may) {
    (void)personality(static_cast<unsigned>(current));
    return good("no right is missing: neither root nor ptrace is needed");
  }
  return note(
      "no right is missing, but addresses cannot be kept from run to run: with seed= they "
      "differ, and nothing else",
      "in a container: docker run --security-opt seccomp=unconfined");
}

Fact options_fact(const Options& options) {
  const std::string set = to_string(options);
  return set.empty() ? good("BARRACUDA_OPTIONS is empty: every launch is checked")
                     : note("BARRACUDA_OPTIONS is set: " + set);
}

std::uint64_t bytes_below(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const std::uintmax_t size = entry->is_regular_file(unknown) ? entry->file_size(unknown) : 0;
    bytes += unknown ? 0 : size;
  }
  return bytes;
}

// Of what is there of a path the last folder.
fs::path nearest_existing(fs::path path) {
  std::error_code error;
  while (!path.empty() && path != path.root_path() && !fs::exists(path, error)) {
    path = path.parent_path();
  }
  return path;
}

}  // namespace

Fact cache_fact(const Options& options) {
  const std::string folder = cache_folder(options);
  const std::string cure =
      "set jit-cache to a folder of your own that nobody else may write to (chmod 700)";
  if (folder.empty()) {
    return note("nothing that is compiled is kept for the next run",
                "leave out jit-cache=none, jit-cache-size=0, CUDA_CACHE_DISABLE and "
                "CUDA_FORCE_PTX_JIT; set HOME or XDG_CACHE_HOME");
  }
  if (access(nearest_existing(folder).c_str(), W_OK) != 0) {
    return note(folder + " cannot be written: what is compiled is not kept for the next run", cure);
  }
  std::error_code error;
  if (!fs::exists(folder, error)) {
    return good(fmt::format("compiled code will be kept in {}, at most {} MiB", folder,
                            options.jit_cache_size));
  }
  if (!is_private_folder(folder)) {
    return note(folder + " is another user's, or others may write to it: it is not used", cure);
  }
  return good(fmt::format("compiled code is kept in {}: {} MiB of {}", folder,
                          bytes_below(folder) / kMebibyte, options.jit_cache_size));
}

MachineReport examine_machine(const Options& options) {
  MachineReport machine;
  machine.section.title = "This machine";
  auto& facts = machine.section.facts;
  facts.push_back(device_fact(options, machine.arch));
  facts.push_back(library_fact());
  facts.push_back(spool_fact());
  facts.push_back(cache_fact(options));
  facts.push_back(dwarf_fact());
  facts.push_back(rights_fact());
  facts.push_back(options_fact(options));
  return machine;
}

}  // namespace barracuda::cli
