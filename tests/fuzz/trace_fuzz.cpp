// Damaged traces: an error, or a report of what is before the damage. An input is a trace file, or
// the events of one process, which are packed into a block: damage to a file mostly ends at a
// checksum.
#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include "base/assert.h"
#include "base/hash.h"
#include "base/options.h"
#include "device_logger/record.h"
#include "fuzz_target.h"
#include "report/resolve.h"
#include "trace/block.h"
#include "trace/reader.h"
#include "trace/replay.h"

namespace barracuda::fuzz {
namespace {

constexpr std::uint64_t kStream = 1;
constexpr std::size_t kHeader = sizeof(trace::BlockHeader);

bool is_file(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof trace::kMagic &&
         std::memcmp(bytes.data(), &trace::kMagic, sizeof trace::kMagic) == 0;
}

void replay(std::span<const std::byte> bytes) {
  const auto reader = trace::Reader::of_bytes(bytes);
  if (!reader) {
    ASSERT(!reader.error().message.empty());
    return;
  }
  for (const std::string& damage : reader->damages()) {
    ASSERT(!damage.empty());
  }
  const auto options = trace::recorded_options(*reader);
  const auto replayed = trace::replay(*reader, {}, {});
  ASSERT(options || !options.error().message.empty());
  if (!options || !replayed) {
    return;
  }
  for (const trace::ReplayedProcess& process : replayed->processes) {
    const report::Report report = report::resolve(process.run, Options{});
    ASSERT(report.findings.size() <= process.run.findings.races.size() +
                                         process.run.findings.divergences.size() +
                                         process.run.memory_errors.size());
  }
}

// The events of a file's first process, as this version would have recorded them: a protocol that
// has grown since is no reason to refuse them all.
std::vector<std::byte> events_of(std::span<const std::byte> file) {
  std::vector<std::byte> events;
  const auto reader = trace::Reader::of_bytes(file);
  if (!reader) {
    return events;
  }
  const auto keep = [&events](trace::Event event) {
    if (auto* const begin = std::get_if<trace::StreamBegin>(&event)) {
      begin->protocol = wire::kProtocolVersion;
    }
    std::visit([&events](const auto& kind) { trace::encode(kind, events); }, event);
    return true;
  };
  // What comes before an error will do.
  (void)reader->visit(reader->streams().front(), keep, {});
  return events;
}

// Makes the checksums of headers right again, so that what they say is believed. For the mutator.
[[maybe_unused]] void repair_headers(std::span<std::byte> input) {
  for (std::size_t at = 0; at + kHeader <= input.size(); ++at) {
    if (!is_file(input.subspan(at))) {
      continue;
    }
    trace::BlockHeader header;
    std::memcpy(&header, input.data() + at, kHeader);
    const auto text = [&](std::size_t bytes) {
      return std::string_view(reinterpret_cast<const char*>(input.data()) + at + kHeader, bytes);
    };
    const std::size_t behind = input.size() - at - kHeader;
    header.stored_hash = hash128(text(std::min<std::size_t>(header.stored_bytes, behind))).low;
    header.header_hash = hash128(std::string_view(reinterpret_cast<const char*>(&header),
                                                  offsetof(trace::BlockHeader, header_hash)))
                             .low;
    std::memcpy(input.data() + at, &header, kHeader);
  }
}

}  // namespace
}  // namespace barracuda::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fuzz = barracuda::fuzz;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (fuzz::is_file(bytes)) {
    fuzz::replay(bytes);
    const auto events = fuzz::events_of(bytes);
    fuzz::replay(barracuda::trace::make_block(fuzz::kStream, 0, events));
  } else {
    fuzz::replay(barracuda::trace::make_block(fuzz::kStream, 0, bytes));
  }
  return 0;
}

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
#ifdef BARRACUDA_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t limit, unsigned seed) {
  namespace fuzz = barracuda::fuzz;
  std::minstd_rand random(seed);
  const std::span<std::uint8_t> room(data, limit);
  if (fuzz::is_file(std::as_bytes(room.first(size))) && random() % 4 != 0) {
    const auto events = fuzz::events_of(std::as_bytes(room.first(size)));
    size = std::min(events.size(), limit);
    std::ranges::copy(std::span(events).first(size), std::as_writable_bytes(room).begin());
  }
  size = LLVMFuzzerMutate(data, size, limit);
  if (random() % 2 == 0) {
    fuzz::repair_headers(std::as_writable_bytes(room.first(size)));
  }
  return size;
}
#endif
// NOLINTEND(readability-identifier-naming)
