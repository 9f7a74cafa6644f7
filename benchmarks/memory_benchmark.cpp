// How much memory detection takes for each byte that a program touches: replays recorded runs
// (`barracuda run --record`) and prints the most that was held at once beside the bytes of global
// memory, and of all blocks' shared memory, that some thread has touched. Bulk copies do not count.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <malloc.h>
#include <span>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/clock/cta_clock.h"
#include "host_detector/queue/decode.h"
#include "trace/process_replay.h"
#include "trace/reader.h"

namespace barracuda::trace {
namespace {

double allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}

// Which bytes of a memory were touched.
class Touched {
 public:
  void add(std::uint64_t address, std::uint32_t bytes) {
    for (; bytes > 0; ++address, --bytes) {
      bits_[address / kBits] |= std::uint64_t{1} << address % kBits;
    }
  }

  [[nodiscard]] double bytes() const {
    double sum = 0;
    for (const auto& [place, bits] : bits_) {
      sum += std::popcount(bits);
    }
    return sum;
  }

 private:
  static constexpr std::uint64_t kBits = 64;

  boost::unordered_flat_map<std::uint64_t, std::uint64_t> bits_;
};

// What the accesses of a process touch.
class Footprint {
 public:
  void take(const Event& event) {
    if (const auto* const described = std::get_if<SiteDescribed>(&event)) {
      const wire::SiteInfo& site = described->site.info;
      widths_.push_back(std::uint32_t{site.element_bytes} * site.element_count);
    } else if (const auto* const applied = std::get_if<RecordApplied>(&event)) {
      take(*applied);
    }
  }

  [[nodiscard]] double global_bytes() const { return global_.bytes(); }

  [[nodiscard]] double shared_bytes() const {
    double sum = 0;
    for (const auto& [block, touched] : shared_) {
      sum += touched.bytes();
    }
    return sum;
  }

 private:
  void take(const RecordApplied& applied) {
    detector::WarpOperation operation;
    if (!detector::decode(applied.record, operation) ||
        operation.kind >= wire::RecordKind::kEvent) {
      return;
    }
    if (!operation.has_all_lanes) {
      operation = operation.with_all_lanes();
    }
    const std::uint32_t width = widths_.at(static_cast<std::size_t>(operation.site));
    for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
      const std::uint64_t tagged =
          operation.lanes[static_cast<std::size_t>(std::countr_zero(rest))].address;
      const bool is_global = wire::space_of(tagged) == wire::AddressSpace::kGlobal;
      Touched& touched =
          is_global ? global_ : shared_[detector::cta_key(applied.launch, operation.cta)];
      touched.add(wire::address_of(tagged), width);
    }
  }

  std::vector<std::uint32_t> widths_;  // by site
  Touched global_;
  boost::unordered_flat_map<detector::CtaKey, Touched> shared_;
};

// False if the file cannot be read.
bool measure(const std::string& path) {
  const auto reader = Reader::open(path);
  if (!reader) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), reader.error().message.c_str());
    return false;
  }
  constexpr std::uint64_t kEventsASample = 1024;
  for (const Stream& stream : reader->streams()) {
    ProcessReplay process({});
    const double before = allocated_bytes();
    double most = before;
    std::uint64_t events = 0;
    const auto replayed = reader->visit(stream,
                                        [&](const Event& event) {
                                          if (events++ % kEventsASample == 0) {
                                            most = std::max(most, allocated_bytes());
                                          }
                                          return process.take(event);
                                        },
                                        {});
    Footprint footprint;
    const auto tallied = reader->visit(stream,
                                       [&](const Event& event) {
                                         footprint.take(event);
                                         return true;
                                       },
                                       {});
    if (!replayed || !tallied || !process.is_over()) {
      continue;  // what `barracuda run` itself has written, or damage
    }
    const double global = footprint.global_bytes(), shared = footprint.shared_bytes();
    std::printf("%s: %.1f MB for %.2f MB of global and %.2f MB of shared memory: %.1f\n",
                path.c_str(), (most - before) / 1e6, global / 1e6, shared / 1e6,
                (most - before) / std::max(1.0, global + shared));
  }
  return true;
}

}  // namespace
}  // namespace barracuda::trace

int main(int argument_count, char** arguments) {
  bool is_fine = argument_count > 1;
  if (!is_fine) {
    std::fprintf(stderr, "usage: %s TRACE...\n", arguments[0]);
  }
  for (const char* const path :
       std::span(arguments, static_cast<std::size_t>(argument_count)).subspan(1)) {
    is_fine = barracuda::trace::measure(path) && is_fine;
  }
  return is_fine ? 0 : 1;
}
