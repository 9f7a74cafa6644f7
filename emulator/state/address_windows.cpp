#include "emulator/state/address_windows.h"

#include <sys/mman.h>

#include "base/assert.h"

namespace barracuda::emulator {

namespace {

AddressWindows reserve() {
  void* range = mmap(nullptr, 3 * kWindowBytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT(range != MAP_FAILED);
  static_assert(kWindowBytes % (std::uint64_t{64} * 1024) == 0, "windows begin at pages");
  return AddressWindows{.base = reinterpret_cast<std::uint64_t>(range)};
}

}  // namespace

const AddressWindows& address_windows() {
  static const AddressWindows windows = reserve();
  return windows;
}

}  // namespace barracuda::emulator
