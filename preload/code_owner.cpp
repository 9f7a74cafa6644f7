#include "preload/code_owner.h"

#include <dlfcn.h>

#include "report/library_file.h"

namespace barracuda::preload {
namespace {

std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

// XLA's plugins, of JAX and of others.
std::string advice_on_code(std::string_view caller_file) {
  const std::string_view name = name_in(caller_file);
  if (name.find("xla") == name.npos && name.find("tensorflow") == name.npos) {
    return {};
  }
  return "; " + std::string(name) +
         " has a compiler of NVIDIA's inside: XLA_FLAGS=--xla_gpu_enable_libnvptxcompiler=false, "
         "where its release knows this flag, makes it call ptxas";
}

std::string advice_on_code(const void* caller) {
  return advice_on_code(std::string_view(file_of(caller)));
}

std::string library_of_code(const void* image, const void* caller) {
  return report::library_of_files(file_of(image), file_of(caller));
}

}  // namespace barracuda::preload
