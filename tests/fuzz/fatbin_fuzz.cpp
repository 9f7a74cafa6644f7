// Damaged fat binaries and programs: an error or images, whatever the bytes.
#include <cstring>
#include <memory>
#include <span>

#include <catch2/catch.hpp>

#include "campaign.h"
#include "fatbin/fatbin.h"
#include "fatbin/host_image.h"

namespace barracuda::fuzz {
namespace {

bool reads(const std::string& input) {
  // Alone in its allocation, so that a sanitizer sees a step outside.
  const auto copy = std::make_unique<std::byte[]>(input.size());
  std::memcpy(copy.get(), input.data(), input.size());
  const std::span<const std::byte> bytes(copy.get(), input.size());
  const auto one = fatbin::read(bytes, fatbin::Payloads::kAll);
  const auto section = fatbin::read_section(bytes, fatbin::Payloads::kAll);
  const auto program = fatbin::read_host_image(bytes, fatbin::Payloads::kAll);
  CHECK((one || !one.error().message.empty()));
  CHECK((section || !section.error().message.empty()));
  CHECK((program || !program.error().message.empty()));
  return one.has_value() || section.has_value() || program.has_value();
}

TEST_CASE("no damage makes the reader of fat binaries crash, hang or ask for absurd memory") {
  const Tally tally = run({.corpus = "fatbin", .more = {}, .repair = nullptr, .accepts = reads});
  CHECK(tally.accepted > 0);
  CHECK(tally.refused > 0);
}

}  // namespace
}  // namespace barracuda::fuzz
