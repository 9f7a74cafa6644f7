#include "cli/doctor_program.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/loaded_libraries.h"
#include "cli/program_file.h"
#include "cli/tool_library.h"
#include "fatbin/host_image.h"
#include "fatbin/runtime_libraries.h"
#include "report/coverage.h"
#include "report/library_file.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 6;

constexpr const char* kCompilePtx =
    "compile with PTX as well: nvcc -arch=sm_90, or -gencode arch=compute_90,code=compute_90 "
    "beside code=sm_90; CMake: CMAKE_CUDA_ARCHITECTURES 90, not 90-real; without -dlto";
constexpr const char* kLineinfo =
    "nvcc -lineinfo (CMake: target_compile_options(app PRIVATE "
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)), which changes no code; -g for lines of host code";

// "a, b and 3 more"
template <typename Names>
std::string some_of(const Names& names) {
  std::string text;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (named == kMostNamed) {
      return text + fmt::format(" and {} more", names.size() - named);
    }
    text += (text.empty() ? "" : ", ") + name;
    ++named;
  }
  return text;
}

std::string targets_of(const std::set<std::string>& targets) {
  return targets.empty() ? "none" : fmt::format("{}", fmt::join(targets, ", "));
}

void add_units(const DeviceCode& code, const std::string& name, std::vector<Fact>& facts) {
  const std::string all = report::counted(code.units, "unit");
  if (code.without_ptx != 0) {
    facts.push_back(obstacle(
        fmt::format(
            "{} of {} of {} have no PTX, only machine code for {}: their kernels cannot be "
            "checked{}{}",
            code.without_ptx, all, name, targets_of(code.code_targets),
            code.sources_without_ptx.empty() ? "" : " (",
            code.sources_without_ptx.empty() ? "" : some_of(code.sources_without_ptx) + ")"),
        kCompilePtx));
  }
  if (code.without_fitting_ptx != 0) {
    facts.push_back(obstacle(
        fmt::format("{} of {} of {} have PTX, but none that this GPU can run (it is for {})",
                    code.without_fitting_ptx, all, name, targets_of(code.ptx_targets)),
        kCompilePtx));
  }
  if (code.has_ptx()) {
    facts.push_back(good(fmt::format(
        "{} of {} carry PTX, for {}; machine code for {}{}", code.units - code.without_ptx, all,
        targets_of(code.ptx_targets), targets_of(code.code_targets),
        code.toolkits.empty() ? "" : "; compiled by CUDA " + some_of(code.toolkits))));
  }
}

void add_lines(const DeviceCode& code, std::vector<Fact>& facts) {
  std::vector<std::string> without;
  for (const CarriedKernel& kernel : code.kernels) {
    if (!kernel.has_lines) {
      without.push_back(kernel.name);
    }
  }
  const std::string all = report::counted(code.kernels.size(), "kernel");
  if (without.empty()) {
    facts.push_back(good(all + ", with source lines"));
  } else {
    facts.push_back(note(
        fmt::format("{} of {} have no source lines (findings in them show PTX instructions): {}",
                    without.size(), all, some_of(without)),
        kLineinfo));
  }
  if (code.has_debug_code) {
    facts.push_back(
        note("compiled without optimisation (nvcc -G): what is checked is slower, and "
             "ordered otherwise than what is shipped",
             "nvcc -lineinfo in place of -G"));
  }
}

std::string text_of(const ptx::Extent& block) {
  return fmt::format("{}x{}x{}", block.x, block.y, block.z);
}

// "sum(int*): blocks of at most 256x1x1 threads, 4096 bytes of shared memory"; empty: no limit.
std::string limits_of(const CarriedKernel& kernel) {
  std::vector<std::string> limits;
  if (kernel.bounds.required_block) {
    limits.push_back(fmt::format("blocks of {} threads", text_of(*kernel.bounds.required_block)));
  } else if (kernel.bounds.max_block) {
    limits.push_back(
        fmt::format("blocks of at most {} threads", text_of(*kernel.bounds.max_block)));
  }
  if (kernel.bounds.required_cluster) {
    limits.push_back(
        fmt::format("clusters of {} blocks", text_of(*kernel.bounds.required_cluster)));
  }
  if (kernel.shared_bytes != 0) {
    limits.push_back(fmt::format("{} bytes of shared memory", kernel.shared_bytes));
  }
  return limits.empty() ? "" : fmt::format("{}: {}", kernel.name, fmt::join(limits, ", "));
}

void add_kernels(const DeviceCode& code, std::vector<Fact>& facts) {
  std::vector<std::string> refused;
  std::vector<std::string> limits;
  for (const CarriedKernel& kernel : code.kernels) {
    if (!kernel.is_instrumented) {
      refused.push_back(fmt::format("{} ({})", kernel.name, kernel.reason));
    }
    if (std::string limit = limits_of(kernel); !limit.empty()) {
      limits.push_back(std::move(limit));
    }
  }
  if (!refused.empty()) {
    facts.push_back(obstacle("kernels that the tool cannot instrument: " + some_of(refused)));
  }
  if (!code.not_covered.empty()) {
    facts.push_back(
        note("instructions that the tool does not look at, so that coverage is "
             "incomplete where they run: " +
             some_of(code.not_covered)));
  }
  for (const std::string& limit : limits) {
    if (&limit - limits.data() == static_cast<std::ptrdiff_t>(kMostNamed)) {
      facts.push_back(good(fmt::format("{} more kernels have limits", limits.size() - kMostNamed)));
      break;
    }
    facts.push_back(good(limit));
  }
}

void add_runtime(const std::string& file, const fatbin::HostImage& image,
                 const std::vector<LoadedLibrary>& libraries, std::vector<Fact>& facts) {
  if (fatbin::contains_static_runtime(file, image)) {
    facts.push_back(good("the CUDA runtime is part of it (static; runs on a GPU alone)"));
    return;
  }
  for (const LoadedLibrary& library : libraries) {
    if (library.name.starts_with("libcudart.so")) {
      std::error_code unknown;
      const fs::path real = fs::canonical(library.path, unknown);
      facts.push_back(good(fmt::format("the CUDA runtime is shared: {}{}", library.name,
                                       unknown ? "" : ", here " + real.string())));
    }
  }
}

// What the tool stands in for where there is no driver.
bool is_provided(const std::string& name, bool is_emulated) {
  return is_emulated &&
         (name == "libcuda.so.1" || name == "libcuda.so" ||
          std::ranges::find(fatbin::kRuntimeLibraries, name) != fatbin::kRuntimeLibraries.end());
}

void add_missing_libraries(const std::vector<LoadedLibrary>& libraries, bool is_emulated,
                           std::vector<Fact>& facts) {
  for (const LoadedLibrary& library : libraries) {
    if (library.path.empty() && !is_provided(library.name, is_emulated)) {
      const bool is_path = library.name.find('/') != library.name.npos;
      facts.push_back(obstacle(
          library.name + " is not found: the program cannot start",
          is_path ? "put it there: the program was linked by this path, as of a library that has "
                    "no soname, and looks nowhere else"
                  : "install it, or add its folder to LD_LIBRARY_PATH"));
    }
  }
}

// A program that gets rights with its file: the loader then leaves LD_PRELOAD alone.
bool gains_rights(const std::string& file) {
  struct stat status{};
  return (stat(file.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) ||
         getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

bool is_script(const std::string& file) {
  const auto bytes = MappedFile::open(file);
  return bytes && bytes->bytes().size() > 2 && bytes->bytes()[0] == std::byte{'#'} &&
         bytes->bytes()[1] == std::byte{'!'};
}

Fact unreadable_program(const std::string& file, const Diagnostic& problem) {
  return is_script(file)
             ? note(
                   "a script: nothing is known of the programs that it starts, which are checked "
                   "as well",
                   "name such a program here in its place")
             : obstacle("it cannot be read: " + problem.message);
}

void add_device_code(const std::string& file, const fatbin::HostImage& image,
                     const DoctorDevice& device, std::vector<Fact>& facts) {
  const DeviceCode code = read_device_code(file, image, device.arch);
  std::ranges::move(device_code_facts(code, fs::path(file).filename()), std::back_inserter(facts));
}

// Of a library that others have made: what it lacks is not the program's fault, nor its cure.
Fact foreign_library(const std::string& name, const DeviceCode& code) {
  const std::size_t with = code.units - code.without_ptx;
  return with == code.units
             ? good(fmt::format("{}: all of its {} carry PTX", name,
                                report::counted(code.units, "unit")))
             : note(fmt::format("{}: {} of {} carry PTX. Its other kernels are not checked, and "
                                "coverage is \"complete but for libraries\"",
                                name, with, report::counted(code.units, "unit")));
}

// Libraries with device code, or with a runtime, but for the program's own file.
void examine_libraries(const std::vector<LoadedLibrary>& libraries, const DoctorDevice& device,
                       DoctorSection& program, std::vector<DoctorSection>& sections) {
  for (const LoadedLibrary& library : libraries) {
    const auto image = library.path.empty()
                           ? Expected<fatbin::HostImage>(unexpected({.message = ""}))
                           : fatbin::read_host_image(library.path);
    // The runtime itself has its constants, and is stood in for.
    const bool is_runtime = is_provided(library.name, device.is_emulated);
    const bool needs_driver = image && device.is_emulated && !is_runtime &&
                              fatbin::contains_static_runtime(library.path, *image);
    if (!image || (!image->has_device_code && !needs_driver)) {
      continue;
    }
    if (!report::library_of_files(library.path, "").empty()) {
      program.facts.push_back(
          needs_driver
              ? obstacle(library.name +
                             " contains a CUDA runtime of its own, which needs a driver: "
                             "its calls fail on the emulated device",
                         "run it on a machine with a GPU")
              : foreign_library(library.name, read_device_code(library.path, *image, device.arch)));
      continue;
    }
    DoctorSection section{.title = "Its library " + library.path, .facts = {}};
    if (needs_driver) {
      section.facts.push_back(obstacle(
          "it contains a CUDA runtime of its own, which needs a driver: without one its calls fail",
          "build it with nvcc -cudart shared"));
    }
    if (image->has_device_code) {
      add_device_code(library.path, *image, device, section.facts);
    }
    sections.push_back(std::move(section));
  }
}

}  // namespace

std::vector<Fact> device_code_facts(const DeviceCode& code, const std::string& name) {
  std::vector<Fact> facts;
  add_units(code, name, facts);
  for (const std::string& problem : code.unreadable) {
    facts.push_back(obstacle("PTX that the tool cannot read: " + problem,
                             "please report it, with what barracuda extract saves"));
  }
  if (code.is_read && !code.kernels.empty()) {
    add_lines(code, facts);
    add_kernels(code, facts);
  } else if (code.has_ptx() && !code.is_read && code.unreadable.empty()) {
    facts.push_back(
        note("it has too much PTX to look at each kernel here; barracuda run names those "
             "that it could not check"));
  }
  return facts;
}

std::vector<DoctorSection> examine_program(const std::string& file, const DoctorDevice& device) {
  std::vector<DoctorSection> sections;
  DoctorSection program{.title = "The program " + file, .facts = {}};
  std::vector<Fact>& facts = program.facts;
  const auto image = fatbin::read_host_image(file);
  if (!image) {
    facts.push_back(unreadable_program(file, image.error()));
    return {program};
  }
  for (const std::string& text : obstacles(file, device.is_emulated)) {
    facts.push_back(obstacle(text));
  }
  if (gains_rights(file)) {
    facts.push_back(
        obstacle("it gets rights by its file (setuid, setgid or capabilities): the "
                 "system lets nothing be loaded into it",
                 "run a copy of it without them (cp does not keep them)"));
  }
  const auto loaded =
      image->needed.empty() ? Expected<std::vector<LoadedLibrary>>() : loaded_libraries(file);
  const std::vector<LoadedLibrary> libraries = loaded.value_or(std::vector<LoadedLibrary>());
  if (!loaded) {
    facts.push_back(note("its libraries are not known: " + loaded.error().message));
  }
  add_missing_libraries(libraries, device.is_emulated, facts);
  add_runtime(file, *image, libraries, facts);
  if (const auto runtimes = sanitizer_runtimes_of(*image); !runtimes.empty()) {
    facts.push_back(good(
        fmt::format("it is built with {}, which goes with the tool", fmt::join(runtimes, ", "))));
  }
  if (image->has_device_code) {
    add_device_code(file, *image, device, facts);
  } else {
    facts.push_back(note("it has no device code in its own file"));
  }
  examine_libraries(libraries, device, program, sections);
  facts.push_back(
      note("not seen here: libraries that it opens while it runs (Python's modules, "
           "dlopen) and code that it compiles itself (NVRTC, Triton, numba); barracuda "
           "run names each kernel that it could not check"));
  sections.insert(sections.begin(), std::move(program));
  return sections;
}

}  // namespace barracuda::cli
