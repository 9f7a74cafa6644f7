// libcudart and libcuda over the emulated device, without the tool, for measuring it. The
// environment variable PLAIN_WORKERS says how many host threads it has.
#include <cstdlib>

#include "emulator/libcuda.h"
#include "emulator/libcudart.h"
#include "preload/exports.h"

namespace driver = barracuda::emulator::driver;
namespace runtime = barracuda::emulator::runtime;

void* barracuda_resolve_export(unsigned index) {
  namespace preload = barracuda::preload;
  const std::string_view name = preload::export_name(index);
  const preload::ExportLibrary library = preload::export_library(index);
  return library == preload::ExportLibrary::kCuda
             ? driver::find_function(name)
             : runtime::find_function(name, preload::emulated_runtime(library));
}

extern "C" [[gnu::visibility("default")]] unsigned long long barracuda_plain_warp_instructions() {
  return driver::machine().warp_instructions();
}

namespace {

[[gnu::constructor]] void configure_workers() {
  if (const char* workers = std::getenv("PLAIN_WORKERS")) {
    barracuda::emulator::MachineOptions options;
    options.workers = static_cast<std::uint32_t>(std::strtoul(workers, nullptr, 10));
    driver::configure(options);
  }
}

}  // namespace
