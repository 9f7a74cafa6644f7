#include "nvcc_output.h"

#include <cstdlib>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "fatbin/container.h"

namespace barracuda::fatbin {
namespace {

struct Variant {
  std::string_view name, flags, sources;
};

constexpr std::string_view kLibrary = "-shared -Xcompiler -fPIC -cudart shared ";

constexpr Variant kVariants[] = {
    {"default", "", "kernel.cu"},
    {"sm_90", "-arch=sm_90", "kernel.cu"},
    {"ptx_only", "-gencode arch=compute_90,code=compute_90", "kernel.cu"},
    {"cubin_only", "-gencode arch=compute_90,code=sm_90", "kernel.cu"},
    {"many",
     "-gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90,code=compute_90 "
     "-gencode arch=compute_90a,code=[sm_90a,compute_90a] "
     "-gencode arch=compute_100f,code=compute_100f",
     "kernel.cu"},
    {"none", "--compress-mode=none", "kernel.cu"},
    {"speed", "--compress-mode=speed", "kernel.cu"},
    {"size", "--compress-mode=size", "kernel.cu"},
    {"balance", "--compress-mode=balance", "kernel.cu"},
    {"lineinfo", "-lineinfo", "kernel.cu"},
    {"debug", "-G", "kernel.cu"},
    {"rdc", "-rdc=true -lineinfo", "rdc_first.cu rdc_second.cu"},
    {"program_shared", "-cudart shared", "program.cu"},
    {"program_static", "-cudart static", "program.cu"},
    {"program_of_driver", "-cudart shared -gencode arch=compute_90,code=compute_90 -lcuda",
     "driver_program.cpp"},
};

const Variant& variant_of(std::string_view name) {
  for (const Variant& variant : kVariants) {
    if (variant.name == name) {
      return variant;
    }
  }
  FAIL("no variant is named " << name);
  std::abort();
}

// One process at a time works on what this lock stands for.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    REQUIRE(descriptor_ >= 0);
    REQUIRE(::flock(descriptor_, LOCK_EX) == 0);
  }

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  ~FileLock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

std::string command_for(const Variant& variant) {
  std::string command = BARRACUDA_NVCC " ";
  if (!variant.name.starts_with("program")) {
    command += kLibrary;
  }
  command += "-Xlinker -rpath," BARRACUDA_CUDA_HOME "/lib64 ";
  command += std::string(variant.flags) + " " + std::string(variant.sources) + " -o ";
  return command;
}

// Names the output: another command, compiler or source makes another file.
std::string key_of(const Variant& variant, const std::string& folder) {
  std::string text = command_for(variant);
  std::string_view sources = variant.sources;
  while (!sources.empty()) {
    const std::size_t space = sources.find(' ');
    text += read_file(folder + std::string(sources.substr(0, space))).value();
    sources.remove_prefix(space == sources.npos ? sources.size() : space + 1);
  }
  return hash128(text).hex().substr(0, 16);
}

}  // namespace

std::string nvcc_output(std::string_view name) {
  const Variant& variant = variant_of(name);
  const std::string sources = BARRACUDA_SOURCE_DIR "/tests/unit/fatbin/";
  const std::string folder = BARRACUDA_BINARY_DIR "/test_data/fatbin/";
  std::filesystem::create_directories(folder);
  const std::string output = folder + std::string(name) + "." + key_of(variant, sources) +
                             (name.starts_with("program") ? "" : ".so");
  const FileLock lock(folder + std::string(name) + ".lock");
  if (!std::filesystem::exists(output)) {
    const std::string unfinished = output + ".unfinished";
    const std::string command = "cd " + sources + " && " + command_for(variant) + unfinished;
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
    std::filesystem::rename(unfinished, output);
  }
  return output;
}

HostImage image_of(std::string_view name) {
  auto image = read_host_image(nvcc_output(name), Payloads::kAll);
  INFO((image ? "" : image.error().to_string()));
  REQUIRE(image);
  return *std::move(image);
}

std::string section_of(std::string_view name, std::string_view section) {
  const std::string file = read_file(nvcc_output(name)).value();
  const auto* const bytes = reinterpret_cast<const std::byte*>(file.data());
  const auto header = load<Elf64_Ehdr>(bytes);
  const auto row = [&](std::size_t index) {
    return load<Elf64_Shdr>(bytes + header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const char* const names = file.data() + row(header.e_shstrndx).sh_offset;
  for (std::size_t index = 0; index < header.e_shnum; ++index) {
    if (names + row(index).sh_name == section) {
      return file.substr(row(index).sh_offset, row(index).sh_size);
    }
  }
  return {};
}

std::size_t count_of(const HostImage& image, EntryKind kind) {
  std::size_t count = 0;
  for (const Container& container : image.containers) {
    for (const Image& entry : container.images) {
      count += entry.kind == kind ? 1U : 0U;
    }
  }
  return count;
}

}  // namespace barracuda::fatbin
