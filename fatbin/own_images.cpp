#include "fatbin/own_images.h"

#include <cstdint>
#include <link.h>

#include "fatbin/container.h"
#include "fatbin/host_image.h"

namespace barracuda::fatbin {
namespace {

constexpr std::size_t kWrapperBytes = 24;
constexpr std::size_t kHeaderPointer = 8;

int take_first(dl_phdr_info* program, std::size_t /*size*/, void* base) {
  *static_cast<std::uintptr_t*>(base) = program->dlpi_addr;
  return 1;
}

}  // namespace

// A unit that was linked with others has a wrapper too, but its header lies elsewhere: it is loaded
// as a part of what was linked.
std::vector<const void*> own_images() {
  std::vector<const void*> images;
  const Expected<HostImage> file = read_host_image("/proc/self/exe");
  if (!file) {
    return images;
  }
  std::uintptr_t base = 0;
  (void)::dl_iterate_phdr(take_first, &base);
  for (std::uint64_t at = 0; at + kWrapperBytes <= file->wrappers.bytes; at += kWrapperBytes) {
    const auto* const wrapper =  // NOLINTNEXTLINE(performance-no-int-to-ptr): the linker's number
        reinterpret_cast<const std::byte*>(base + file->wrappers.address + at);
    if (file->loaded.contains(load<std::uintptr_t>(wrapper + kHeaderPointer) - base) &&
        is_fatbin(wrapper)) {
      images.push_back(wrapper);
    }
  }
  return images;
}

}  // namespace barracuda::fatbin
