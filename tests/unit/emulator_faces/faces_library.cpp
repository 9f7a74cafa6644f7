// The exports over the emulated libcuda and libcudart and nothing else: the emulated device without
// the tool.
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
