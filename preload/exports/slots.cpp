// Apart from the names, so that who only lists them needs no trampolines.
#include "preload/exports.h"

extern "C" {
// In trampolines.S.
[[gnu::visibility("hidden")]] extern void* const barracuda_export_addresses[];
}

namespace barracuda::preload {

void* export_address(unsigned index) {
  return barracuda_export_addresses[2 * index];
}

}  // namespace barracuda::preload
