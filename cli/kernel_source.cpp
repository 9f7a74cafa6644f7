#include "cli/kernel_source.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/child_process.h"
#include "cli/environment.h"
#include "cli/interruption.h"
#include "cli/program_file.h"
#include "cli/ptx_file.h"
#include "cli/run_directory.h"
#include "fatbin/decompress.h"
#include "fatbin/host_image.h"
#include "report/symbol_name.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

// $NVCC, the search path, CUDA_HOME, CUDA's default folder: the first that there is.
std::string find_nvcc() {
  if (const char* const chosen = std::getenv("NVCC"); chosen != nullptr) {
    return chosen;
  }
  if (std::string found = find_program("nvcc"); !found.empty()) {
    return found;
  }
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string& folder :
       {std::string(home == nullptr ? "" : home), std::string("/usr/local/cuda")}) {
    std::string nvcc = folder + "/bin/nvcc";
    if (!folder.empty() && access(nvcc.c_str(), X_OK) == 0) {
      return nvcc;
    }
  }
  return {};
}

std::string full_name(const ptx::Function& function) {
  return report::demangle(std::string(function.name));
}

bool is_elf(const std::string& file) {
  const auto bytes = MappedFile::open(file);
  return bytes && bytes->bytes().size() > 4 &&
         std::memcmp(bytes->bytes().data(),
                     "\x7f"
                     "ELF",
                     4) == 0;
}

// Of the images of a program whose PTX has such a kernel the newest.
Expected<std::string> ptx_of_program(const std::string& file, const std::string& kernel) {
  TRY(const MappedFile mapped, MappedFile::open(file));
  TRY(const fatbin::HostImage image,
      fatbin::read_host_image(mapped.bytes(), fatbin::Payloads::kPtx));
  std::string chosen;
  std::uint32_t newest = 0;
  bool has_ptx = false;
  for (const fatbin::Container& container : image.containers) {
    for (const fatbin::Image& each : container.images) {
      if (each.kind != fatbin::EntryKind::kPtx ||
          each.payload.find(".entry") == std::string::npos) {
        continue;
      }
      has_ptx = true;
      std::string text = each.payload;
      while (text.ends_with('\0')) {
        text.pop_back();
      }
      const auto module = ptx::parse(text);
      if (module && find_entry(*module, kernel) && module->target_arch() >= newest) {
        newest = module->target_arch();
        chosen = std::move(text);
      }
    }
  }
  if (!has_ptx) {
    return unexpected({.message = "it has no PTX of a kernel", .file = file});
  }
  if (chosen.empty()) {
    return unexpected(
        {.message = fmt::format("no PTX in it has {}", kernel.empty()
                                                           ? "just one kernel; choose with --kernel"
                                                           : "a kernel " + kernel),
         .file = file});
  }
  return chosen;
}

}  // namespace

bool is_cuda_source(const std::string& file) {
  return fs::path(file).extension() == ".cu";
}

Expected<void> compile_kernel(const std::string& source, const std::string& ptx,
                              const std::function<bool()>& stops) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    return unexpected({.message = "there is no nvcc here to compile it (set NVCC, or PATH); a .ptx "
                                  "file needs none",
                       .file = source});
  }
  auto child = ChildProcess::start({nvcc, "-std=c++17", "-lineinfo", "-ptx", source, "-o", ptx},
                                   current_environment());
  if (!child) {
    return unexpected({.message = child.error().message});
  }
  if (stops) {
    catch_interruptions();
  }
  const auto end_if_stopped = [&] {
    if (stops && stops()) {
      child->send(SIGTERM);
    }
  };
  if (const int status = child->wait(end_if_stopped); status != 0) {
    return unexpected(
        {.message = fmt::format("nvcc failed with status {}", status), .file = source});
  }
  return {};
}

std::string short_name(const ptx::Function& function) {
  return report::without_parameters(full_name(function));
}

// The entry that `wanted` names: as in the PTX, or as in the source.
Expected<const ptx::Function*> find_entry(const ptx::Module& module, const std::string& wanted) {
  std::vector<const ptx::Function*> fitting;
  std::string names;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) {
      continue;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", full_name(function));
    if (function.name == wanted) {
      return &function;
    }
    if (wanted.empty() || short_name(function) == wanted || full_name(function) == wanted) {
      fitting.push_back(&function);
    }
  }
  if (fitting.size() == 1) {
    return fitting.front();
  }
  if (names.empty()) {
    return unexpected({.message = "there is no kernel in it"});
  }
  if (wanted.empty()) {
    return unexpected({.message = "choose a kernel with --kernel: " + names});
  }
  return unexpected({.message = fmt::format("{} is called {}; there are: {}",
                                            fitting.empty() ? "no kernel" : "more than one kernel",
                                            wanted, names)});
}

Expected<std::vector<KernelArgument>> fit_arguments(const ptx::Function& entry,
                                                    const std::vector<std::string>& texts) {
  if (texts.size() != entry.parameters.size()) {
    return unexpected(
        {.message = fmt::format("number of parameters of {}: {}; number of --arg given: {}",
                                short_name(entry), entry.parameters.size(), texts.size())});
  }
  std::vector<KernelArgument> arguments;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TRY(KernelArgument argument, parse_kernel_argument(texts[i]));
    const std::size_t needed = entry.parameters[i].size();
    const std::size_t given = parameter_bytes(argument);
    if (needed != given) {
      return unexpected({.message = fmt::format("--arg {}: parameter {} has {} bytes, this has {}",
                                                texts[i], i, needed, given)});
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Expected<std::string> kernel_ptx(const std::string& file, const std::string& kernel,
                                 const std::function<bool()>& stops) {
  if (is_cuda_source(file)) {
    TRY(const RunDirectory directory, RunDirectory::create());
    const std::string ptx = directory.file("kernel.ptx");
    if (auto compiled = compile_kernel(file, ptx, stops); !compiled) {
      return unexpected(std::move(compiled).error());
    }
    return read_ptx(ptx);
  }
  return is_elf(file) ? ptx_of_program(file, kernel) : read_ptx(file);
}

bool has_kernels(const std::string& file) {
  return is_cuda_source(file) || fs::path(file).extension() == ".ptx" || is_elf(file);
}

}  // namespace barracuda::cli
