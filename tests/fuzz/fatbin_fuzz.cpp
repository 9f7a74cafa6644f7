// Damaged fat binaries and programs: an error or images, whatever the bytes.
#include <span>

#include "base/assert.h"
#include "fatbin/fatbin.h"
#include "fatbin/host_image.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fatbin = barracuda::fatbin;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto one = fatbin::read(bytes, fatbin::Payloads::kAll);
  const auto section = fatbin::read_section(bytes, fatbin::Payloads::kAll);
  const auto program = fatbin::read_host_image(bytes, fatbin::Payloads::kAll);
  ASSERT(one || !one.error().message.empty());
  ASSERT(section || !section.error().message.empty());
  ASSERT(program || !program.error().message.empty());
  return 0;
}
