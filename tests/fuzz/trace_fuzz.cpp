// Damaged traces: an error, or a report of what is before the damage. Damage to the file mostly
// ends at a checksum, so events are also damaged before they are packed into blocks.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/options.h"
#include "campaign.h"
#include "device_logger/record.h"
#include "report/resolve.h"
#include "trace/block.h"
#include "trace/reader.h"
#include "trace/replay.h"

namespace barracuda::fuzz {
namespace {

constexpr std::uint64_t kStream = 1;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Whether anything could be replayed.
bool replays(std::span<const std::byte> bytes) {
  const auto reader = trace::Reader::of_bytes(bytes);
  if (!reader) {
    CHECK_FALSE(reader.error().message.empty());
    return false;
  }
  for (const std::string& damage : reader->damages()) {
    CHECK_FALSE(damage.empty());
  }
  const auto options = trace::recorded_options(*reader);
  const auto replayed = trace::replay(*reader, {}, {});
  if (!options || !replayed) {
    CHECK((options || !options.error().message.empty()));
    return false;
  }
  for (const trace::ReplayedProcess& process : replayed->processes) {
    const report::Report report = report::resolve(process.run, Options{});
    CHECK(report.findings.size() <= process.run.findings.races.size() +
                                        process.run.findings.divergences.size() +
                                        process.run.memory_errors.size());
  }
  return !replayed->processes.empty();
}

// Makes the checksums of headers right again, so that what they say is believed.
void repair_headers(std::string& input) {
  constexpr std::size_t kHeader = sizeof(trace::BlockHeader);
  const std::string_view mark(reinterpret_cast<const char*>(&trace::kMagic), sizeof trace::kMagic);
  for (std::size_t at = input.find(mark); at != std::string::npos && at + kHeader <= input.size();
       at = input.find(mark, at + 1)) {
    trace::BlockHeader header;
    std::memcpy(&header, input.data() + at, kHeader);
    const std::size_t stored =
        std::min<std::size_t>(header.stored_bytes, input.size() - at - kHeader);
    header.stored_hash = hash128(std::string_view(input).substr(at + kHeader, stored)).low;
    header.header_hash = hash128(std::string_view(reinterpret_cast<const char*>(&header),
                                                  offsetof(trace::BlockHeader, header_hash)))
                             .low;
    std::memcpy(input.data() + at, &header, kHeader);
  }
}

// The events of a kept trace's first process, as this version would have recorded them: a protocol
// that has grown since is no reason to refuse them all.
std::string events_of(const std::string& file) {
  const auto reader = trace::Reader::of_bytes(bytes_of(file));
  REQUIRE(reader);
  std::vector<std::byte> events;
  const auto visited = reader->visit(
      reader->streams().front(),
      [&events](trace::Event event) {
        if (auto* const begin = std::get_if<trace::StreamBegin>(&event)) {
          begin->protocol = wire::kProtocolVersion;
        }
        std::visit([&events](const auto& kind) { trace::encode(kind, events); }, event);
        return true;
      },
      {});
  REQUIRE(visited);
  return {reinterpret_cast<const char*>(events.data()), events.size()};
}

std::vector<std::string> kept_events() {
  std::vector<std::string> events;
  for (const auto& entry :
       std::filesystem::directory_iterator(BARRACUDA_SOURCE_DIR "/tests/fuzz/corpus/trace")) {
    events.push_back(events_of(read_file(entry.path()).value()));
  }
  std::ranges::sort(events);
  return events;
}

TEST_CASE("no damage to a trace makes its reader crash, hang or ask for absurd memory") {
  std::vector<std::string> files;
  for (const std::string& events : kept_events()) {
    const std::vector<std::byte> block = trace::make_block(kStream, 0, bytes_of(events));
    files.emplace_back(reinterpret_cast<const char*>(block.data()), block.size());
  }
  std::uint64_t round = 0;
  const Tally tally =
      run({.corpus = "trace",
           .more = {},
           .repair =
               [&round](std::string& input) {
                 if (++round % 2 == 0) {
                   repair_headers(input);
                 }
               },
           .accepts = [](const std::string& input) { return replays(bytes_of(input)); }});
  CHECK(tally.accepted > 0);
  CHECK(tally.refused > 0);
}

TEST_CASE("no damage to the events of a trace makes their replay crash or ask for absurd memory") {
  const Tally tally = run({.corpus = "trace_events",
                           .more = kept_events(),
                           .repair = nullptr,
                           .accepts = [](const std::string& input) {
                             return replays(trace::make_block(kStream, 0, bytes_of(input)));
                           }});
  CHECK(tally.accepted > 0);
}

}  // namespace
}  // namespace barracuda::fuzz
