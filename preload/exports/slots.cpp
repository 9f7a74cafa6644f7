// Apart from the names, so that who only lists them needs no trampolines.
#include <atomic>

#include "preload/exports.h"

extern "C" {
// In trampolines.S. Only the trampolines write the slots.
[[gnu::visibility("hidden")]] extern void* barracuda_export_slots[];
[[gnu::visibility("hidden")]] extern void* const barracuda_export_addresses[];
}

namespace barracuda::preload {

void* export_address(unsigned index) {
  return barracuda_export_addresses[2 * index];
}

void* resolved_export(unsigned index) {
  void* target = std::atomic_ref(barracuda_export_slots[index]).load(std::memory_order_relaxed);
  return target == barracuda_export_addresses[2 * index + 1] ? nullptr : target;
}

}  // namespace barracuda::preload
