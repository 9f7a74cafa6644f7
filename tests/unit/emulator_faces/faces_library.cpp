// The exports over the faces and nothing else: the emulated device without the tool.
#include "emulator/driver_face.h"
#include "emulator/runtime_face.h"
#include "preload/exports.h"

void* barracuda_resolve_export(unsigned index) {
  namespace preload = barracuda::preload;
  const std::string_view name = preload::export_name(index);
  return preload::export_face(index) == preload::ExportFace::kRuntime
             ? barracuda::emulator::runtime::find_function(name)
             : barracuda::emulator::driver::find_function(name);
}
