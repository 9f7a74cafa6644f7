#include <catch2/catch.hpp>

#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace/sample.h"
#include "trace/reader.h"

namespace barracuda::trace {
namespace {

TEST_CASE("what is written to a trace is read from it, whatever the events") {
  const ScratchFolder folder;
  for (const std::size_t events_in_block : {1, 7, 0}) {
    RandomEvents events(events_in_block);
    std::vector<std::vector<std::byte>> written;
    std::vector<std::vector<std::byte>> spans;
    std::vector<Event> kept;
    for (int i = 0; i < 3000; ++i) {
      Event event = events.next();
      if (auto* const record = std::get_if<RecordApplied>(&event)) {
        spans.emplace_back(record->record.begin(), record->record.end());
        record->record = spans.back();
      }
      written.push_back(encoded(event));
      kept.push_back(std::move(event));
    }
    write_trace(folder / "trace", kept, events_in_block);
    const auto reader = Reader::open(folder / "trace");
    REQUIRE(reader);
    CHECK(reader->damages().empty());
    REQUIRE(reader->streams().size() == 1);
    std::size_t read = 0;
    const auto visited = reader->visit(reader->streams().front(),
                                       [&](const Event& event) {
                                         CHECK(event.index() == kept[read].index());
                                         CHECK(encoded(event) == written[read]);
                                         return ++read < written.size();
                                       },
                                       {});
    CHECK(visited);
    CHECK(read == written.size());
  }
}

// encode() and decode() share one list of fields, so that a field which is on none is lost to both:
// whoever adds one to these structs changes the size here, event_fields.h and kFormatVersion.
TEST_CASE("every field of what a report rests on travels") {
  STATIC_REQUIRE(sizeof(wire::SiteInfo) == 32);
  STATIC_REQUIRE(sizeof(ptx::SourceFrame) == 2 * sizeof(std::string) + 8);
  STATIC_REQUIRE(sizeof(ptx::Site) == 8 + sizeof(wire::SiteInfo) + 3 * sizeof(std::string) + 24 +
                                          2 * sizeof(std::vector<int>));
  STATIC_REQUIRE(sizeof(detector::LaunchInfo) == 48 + sizeof(std::vector<int>));
  STATIC_REQUIRE(sizeof(report::AllocationRecord) == 24 + sizeof(std::string));
  STATIC_REQUIRE(sizeof(report::KernelRecord) == 40 + 2 * sizeof(std::string));
}

TEST_CASE("an event that is cut short is none") {
  RandomEvents events(5);
  for (int i = 0; i < 500; ++i) {
    const auto bytes = encoded(events.next());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      std::span<const std::byte> rest = std::span(bytes).first(length);
      Event event;
      // Some read as a shorter event of the same kind, but never beyond what is there.
      if (decode(rest, event)) {
        CHECK(rest.size() < length);
      }
    }
    std::span<const std::byte> whole = bytes;
    Event event;
    CHECK(decode(whole, event));
    CHECK(whole.empty());
  }
}

TEST_CASE(
    "an enumerator that does not exist, a length behind the end, and an unknown kind are refused") {
  const auto refuses = [](std::vector<std::byte> bytes) {
    std::span<const std::byte> rest = bytes;
    Event event;
    return !decode(rest, event);
  };
  constexpr auto kDeviceNamed = std::byte{1};
  CHECK(refuses({std::byte{200}}));
  CHECK(refuses({kDeviceNamed, std::byte{0x05}, std::byte{'a'}}));
  CHECK(
      refuses({kDeviceNamed, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0x7f}}));
  CHECK(refuses({kDeviceNamed, std::byte{0x01}}));
  SiteDescribed site;
  site.site.info.operation = static_cast<wire::Operation>(99);
  CHECK(refuses(encoded(site)));
}

}  // namespace
}  // namespace barracuda::trace
