// Pinned host memory, zeroed, with the same address on all devices.
//
// cuMemHostAlloc takes half a millisecond for each MiB, in which it pins pages of 4 KiB; pages of 2
// MiB that the process has already are pinned in a fifth of that. So what is large is mapped in
// such pages and registered. A child process does not get it: a page that it shares would be copied
// when the parent writes it next, and the device would go on with the old one.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "preload/hook.h"

namespace barracuda::preload {

// Thread-safe. Calls need a current context.
class PinnedMemory {
 public:
  // Null if it cannot be had. `now`: all pages are taken now, else each when it is first used.
  std::byte* allocate(std::size_t bytes, bool now);
  void free(std::byte* memory);

 private:
  // Null if this cannot be done here.
  std::byte* register_pages(std::size_t bytes, bool now);

  std::mutex mutex_;
  std::map<std::byte*, std::size_t> pages_;  // registered: from here on, so many bytes
  Original<decltype(::cuMemHostAlloc)> host_allocate_{"cuMemHostAlloc"};
  Original<decltype(::cuMemFreeHost)> free_host_{"cuMemFreeHost"};
  Original<decltype(::cuMemHostRegister_v2)> register_{"cuMemHostRegister_v2"};
  Original<decltype(::cuMemHostUnregister)> unregister_{"cuMemHostUnregister"};
  Original<decltype(::cuMemHostGetDevicePointer_v2)> device_pointer_{
      "cuMemHostGetDevicePointer_v2"};
};

}  // namespace barracuda::preload
