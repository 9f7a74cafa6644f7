// Records a second of the happens-before engine, from queue bytes to findings, on traces of the
// shapes that kernels have: coalesced and strided accesses, atomics, barriers, a lock. On one core
// in CPU time; with several threads in wall time, beside one thread in the same run. Beside that
// the memory that the engine holds at the end, and how much of the program's it is for.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/footprint.h"
#include "host_detector/detector.h"
#include "host_detector/queue/ordering.h"

namespace barracuda::detector {
namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;

constexpr std::uint64_t kMemory = 0x7f0000000000;
constexpr std::uint32_t kWarps = 8;           // of a CTA
constexpr std::uint32_t kGridBit = 1U << 31;  // that each barrier of a grid changes

enum Site : std::uint32_t {
  kLoad,
  kStore,
  kAtomicAdd,
  kBarrier,
  kExit,
  kTicket,
  kFence,
  kLockCas,
  kUnlock,
  kSyncWarp,
  kPoll,
  kSiteCount,
};

wire::SiteInfo word(Operation operation, MemoryOrder order = MemoryOrder::kWeak) {
  wire::SiteInfo site{.operation = operation, .order = order, .scope = Scope::kGpu};
  site.element_bytes = 4;
  site.element_count = 1;
  return site;
}

std::vector<wire::SiteInfo> sites() {
  std::vector<wire::SiteInfo> all(kSiteCount);
  all[kLoad] = word(Operation::kRead);
  all[kStore] = word(Operation::kWrite);
  all[kAtomicAdd] = word(Operation::kReduction, MemoryOrder::kRelaxed);
  all[kBarrier] = {.operation = Operation::kBarrier};
  all[kExit] = {.operation = Operation::kExit};
  all[kTicket] = word(Operation::kAtomic, MemoryOrder::kRelaxed);
  all[kFence] = {
      .operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kGpu};
  all[kLockCas] = word(Operation::kAtomic, MemoryOrder::kRelaxed);
  all[kUnlock] = word(Operation::kAtomic, MemoryOrder::kRelaxed);
  all[kSyncWarp] = {.operation = Operation::kWarpBarrier};
  all[kPoll] = word(Operation::kRead, MemoryOrder::kVolatile);
  all[kPoll].poll = all[kPoll].waits_for_change = true;
  all[kPoll].idiom_scope = Scope::kGpu;
  all[kPoll].constant = kGridBit;
  return all;
}

constexpr std::uint32_t kRings = 64;
constexpr std::size_t kBatchBytes = 2048 * wire::kSlotBytes;

struct Batch {
  std::uint32_t ring = 0;
  RecordBatch records;
};

// A recorded trace: records as they lie in a queue.
class Recording {
 public:
  void pattern(Site site, std::uint32_t cta, std::uint32_t warp, std::uint64_t base,
               std::int16_t stride) {
    header(site, RecordKind::kAffine, cta, ~std::uint32_t{0}, 5);
    wire::PatternHalf half{};
    half.stride0 = stride;
    half.base_low = static_cast<std::uint32_t>(base);
    half.base_high = static_cast<std::uint32_t>(base >> 32) & 0x1FFFFFF;
    half.warp = warp & 31;
    append(half);
    close();
  }

  // Of the warp's first lane alone.
  void first_lane(Site site, std::uint32_t cta, std::uint32_t warp, std::uint64_t address) {
    header(site, RecordKind::kAffine, cta, 1, 5);
    wire::PatternHalf half{};
    half.base_low = static_cast<std::uint32_t>(address);
    half.base_high = static_cast<std::uint32_t>(address >> 32) & 0x1FFFFFF;
    half.warp = warp & 31;
    append(half);
    close();
  }

  // Two rows of 16 words, 4096 bytes apart.
  void rows(Site site, std::uint32_t cta, std::uint32_t warp, std::uint64_t base) {
    header(site, RecordKind::kAffine, cta, ~std::uint32_t{0}, 4);
    wire::PatternHalf half{};
    half.stride0 = 4;
    half.stride1 = 4096;
    half.base_low = static_cast<std::uint32_t>(base);
    half.base_high = static_cast<std::uint32_t>(base >> 32) & 0x1FFFFFF;
    half.warp = warp & 31;
    append(half);
    close();
  }

  void event(Site site, std::uint32_t cta, std::uint32_t warp) {
    header(site, RecordKind::kEvent, cta, ~std::uint32_t{0}, 0);
    wire::PatternHalf half{};
    half.base_low = site == kSyncWarp ? ~std::uint32_t{0} : 0;  // its members
    half.warp = warp & 31;
    append(half);
    close();
  }

  // Each lane at its own address.
  void scattered(Site site, std::uint32_t cta, std::uint32_t warp,
                 const std::function<std::uint64_t(std::uint32_t)>& address) {
    header(site, RecordKind::kScattered, cta, ~std::uint32_t{0}, 0);
    wire::PatternHalf half{};
    half.warp = warp & 31;
    append(half);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      wire::LaneAddress entry{};
      entry.address_low = static_cast<std::uint32_t>(address(lane));
      entry.address_high = static_cast<std::uint32_t>(address(lane) >> 32);
      append(entry);
    }
    close();
  }

  // An atomic of the warp's first lane: its release and its acquire.
  void atomic(Site site, std::uint32_t cta, std::uint32_t warp, std::uint64_t address,
              std::uint64_t read, std::uint64_t written) {
    synchronise(site, RecordKind::kRelease, {.cta = cta, .warp = warp, .address = address}, read,
                written);
    synchronise(site, RecordKind::kAcquire, {.cta = cta, .warp = warp, .address = address}, read,
                written);
  }

  // A strong load of the warp's first lane.
  void poll(Site site, std::uint32_t cta, std::uint32_t warp, std::uint64_t address,
            std::uint64_t read) {
    synchronise(site, RecordKind::kAcquire, {.cta = cta, .warp = warp, .address = address}, read,
                std::nullopt);
  }

  [[nodiscard]] std::size_t count() const { return ends_.size(); }

  // Of global memory.
  [[nodiscard]] double touched_bytes() const {
    Footprint footprint;
    for (const wire::SiteInfo& site : sites()) {
      footprint.add(site);
    }
    for_each([&](std::span<const std::byte> record) { footprint.add(LaunchId{1}, record); });
    return footprint.global_bytes();
  }

  // As the threads that empty the rings hand it on: a block logs to the ring of its number.
  [[nodiscard]] std::vector<Batch> batches() const {
    std::vector<Batch> all;
    std::array<RecordBatch, kRings> open;
    const auto close = [&](std::uint32_t ring) {
      all.push_back({.ring = ring, .records = std::exchange(open[ring], {})});
    };
    for_each([&](std::span<const std::byte> record) {
      const std::uint32_t ring = header_of(record).cta % kRings;
      open[ring].bytes.insert(open[ring].bytes.end(), record.begin(), record.end());
      open[ring].slots.push_back(static_cast<std::uint32_t>(record.size() / wire::kSlotBytes));
      if (open[ring].bytes.size() >= kBatchBytes) {
        close(ring);
      }
    });
    for (std::uint32_t ring = 0; ring < kRings; ++ring) {
      close(ring);
    }
    return all;
  }

 private:
  struct SyncPlace {
    std::uint32_t cta = 0, warp = 0;
    std::uint64_t address = 0;
  };

  // Of the warp's first lane.
  void synchronise(Site site, RecordKind kind, const SyncPlace& place, std::uint64_t read,
                   std::optional<std::uint64_t> written) {
    header(site, kind, place.cta, 1, 0);
    wire::PatternHalf half{};
    half.warp = place.warp & 31;
    append(half);
    wire::LaneSyncHalf sync{};
    sync.flags = written ? wire::kLaneHasRead | wire::kLaneHasWritten : wire::kLaneHasRead;
    sync.address_low = static_cast<std::uint32_t>(place.address);
    sync.address_high = static_cast<std::uint32_t>(place.address >> 32);
    const std::uint32_t counter = wire::order_counter_of(place.address);
    sync.number = kind == RecordKind::kRelease ? numbers_[counter]++ : numbers_[counter];
    append(sync);
    append(value(read));
    if (kind == RecordKind::kRelease) {
      append(value(*written));
      append(wire::LaneValueHalf{});
    }
    close();
  }

  static wire::LaneValueHalf value(std::uint64_t value) {
    return {.tag = 0,
            .reserved0 = 0,
            .value_low = static_cast<std::uint32_t>(value),
            .value_high = 0,
            .reserved1 = 0};
  }

  void header(Site site, RecordKind kind, std::uint32_t cta, std::uint32_t mask,
              std::uint32_t width_log2) {
    wire::HeaderHalf half{};
    half.launch = 1;
    half.site = site & 0xFFFFFFU;
    half.kind = static_cast<std::uint32_t>(kind) & 0xF;
    half.width_log2 = width_log2 & 0xF;
    half.mask = mask;
    half.cta = cta;
    append(half);
  }

  template <typename Half>
  void append(const Half& half) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&half);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(half));
  }

  void close() { ends_.push_back(bytes_.size()); }

  // Calls visit(record), its bytes.
  template <typename Visit>
  void for_each(Visit visit) const {
    std::size_t start = 0;
    for (const std::size_t end : ends_) {
      visit(std::span(bytes_).subspan(start, end - start));
      start = end;
    }
  }

  std::vector<std::byte> bytes_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(wire::kOrderCounters);
};

// Records what all CTAs do.
using Kernel = std::function<void(Recording&, std::uint32_t ctas)>;

struct Cost {
  double seconds;
  double bytes_held;  // at the end
};

// What the recording takes; complains of what must not happen.
Cost replay(const Recording& recording, const LaunchInfo& launch, std::uint32_t threads) {
  static constexpr std::array<char, kRings> rings{};  // their addresses name them
  const double allocated_before = allocated_bytes();
  const auto detector = make_detector();
  detector->add_sites(wire::SiteId{0}, sites());
  Ordering ordering(*detector, {.threads = threads});
  OrderCounters counters;
  std::vector<Batch> batches = recording.batches();
  const std::clock_t cpu_start = std::clock();  // the machine may be shared
  const auto start = std::chrono::steady_clock::now();
  ordering.begin_launch(launch);
  for (Batch& batch : batches) {
    ordering.take(counters, &rings[batch.ring], std::move(batch.records));
  }
  ordering.go_on();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  if (!detector->findings().races.empty() || detector->rejected() != 0 ||
      !detector->launch_over(launch.id)) {
    std::printf("WRONG: %zu races, %llu rejected%s\n", detector->findings().races.size(),
                static_cast<unsigned long long>(detector->rejected()),
                detector->launch_over(launch.id) ? "" : ", not over");
  }
  batches = {};
  return {.seconds = threads == 1 ? cpu : wall.count(),
          .bytes_held = allocated_bytes() - allocated_before};
}

void measure(const std::string& name, std::uint32_t ctas, const Kernel& kernel,
             const std::vector<std::uint32_t>& threads) {
  Recording recording;
  kernel(recording, ctas);
  LaunchInfo launch{.id = LaunchId{1}};
  launch.grid.x = ctas;
  launch.block.x = kWarps * wire::kWarpLanes;
  std::printf("%-34s %8zu records, M records/s:", name.c_str(), recording.count());
  double most_held = 0;
  for (const std::uint32_t count : threads) {
    const Cost cost = replay(recording, launch, count);
    std::printf(" %8.2f", static_cast<double>(recording.count()) / cost.seconds / 1e6);
    std::fflush(stdout);
    most_held = std::max(most_held, cost.bytes_held);
  }
  std::printf("; %.1f MB held for %.1f\n", most_held / 1e6, recording.touched_bytes() / 1e6);
}

std::uint64_t global(std::uint64_t index) {
  return kMemory + index * 4;
}

std::uint64_t shared(std::uint64_t index) {
  return wire::tagged_address(wire::AddressSpace::kShared, index * 4);
}

void coalesced(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t round = 0; round < 16; ++round) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      const std::uint64_t at = ((std::uint64_t{cta} * 16 + round) * kWarps + warp) * 32;
      recording.pattern(kLoad, cta, warp, global(at), 4);
      recording.pattern(kLoad, cta, warp, global(at + (1U << 24)), 4);
      recording.pattern(kStore, cta, warp, global(at + (1U << 25)), 4);
    }
  }
}

void strided(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t round = 0; round < 16; ++round) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      // A column of a matrix of 1024 words a row.
      const std::uint64_t column = (cta * kWarps + warp) % 1024;
      const std::uint64_t row = (std::uint64_t{cta} * kWarps + warp) / 1024 * 512 + round * 32;
      recording.pattern(kStore, cta, warp, global(row * 1024 + column), 4096);
    }
  }
}

// 16 x 16 threads: a warp has two rows of a matrix of 1024 words a row.
void tiles(Recording& recording, std::uint32_t cta) {
  for (const Site site : {kLoad, kStore}) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      const std::uint64_t row = std::uint64_t{cta / 64} * 16 + warp * 2;
      recording.rows(site, cta, warp, global(row * 1024 + cta % 64 * 16));
    }
  }
}

void histogram(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t round = 0; round < 16; ++round) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      std::uint64_t state = (std::uint64_t{cta} * 16 + round) * kWarps + warp;
      recording.scattered(kAtomicAdd, cta, warp, [&](std::uint32_t) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return global(state >> 56);
      });
    }
  }
}

// The same in shared memory, which it clears before and adds to global memory after.
void shared_histogram(Recording& recording, std::uint32_t cta) {
  const auto for_each_warp = [](const auto& act) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      act(warp);
    }
  };
  const auto synchronise = [&] {
    for_each_warp([&](std::uint32_t warp) { recording.event(kBarrier, cta, warp); });
  };
  for_each_warp(
      [&](std::uint32_t warp) { recording.pattern(kStore, cta, warp, shared(warp * 32), 4); });
  synchronise();
  for (std::uint32_t round = 0; round < 16; ++round) {
    for_each_warp([&](std::uint32_t warp) {
      std::uint64_t state = (std::uint64_t{cta} * 16 + round) * kWarps + warp;
      recording.scattered(kAtomicAdd, cta, warp, [&](std::uint32_t) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return shared(state >> 56);
      });
    });
  }
  synchronise();
  for_each_warp([&](std::uint32_t warp) {
    recording.pattern(kLoad, cta, warp, shared(warp * 32), 4);
    recording.pattern(kAtomicAdd, cta, warp, global(warp * 32), 4);
  });
}

void shared_table(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t round = 0; round < 48; ++round) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      recording.pattern(kLoad, cta, warp, global(round * 32), 4);
    }
  }
}

void reduction(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    recording.pattern(kLoad, cta, warp, global((std::uint64_t{cta} * kWarps + warp) * 32), 4);
    recording.pattern(kStore, cta, warp, shared(warp * 32), 4);
  }
  for (std::uint32_t half = kWarps / 2; half > 0; half /= 2) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      recording.event(kBarrier, cta, warp);
    }
    for (std::uint32_t warp = 0; warp < half; ++warp) {
      recording.pattern(kLoad, cta, warp, shared((warp + half) * 32), 4);
      recording.pattern(kLoad, cta, warp, shared(warp * 32), 4);
      recording.pattern(kStore, cta, warp, shared(warp * 32), 4);
    }
  }
}

void barriers(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t round = 0; round < 64; ++round) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      recording.event(kBarrier, cta, warp);
    }
  }
}

void last_block(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    recording.pattern(kStore, cta, warp, global((std::uint64_t{cta} * kWarps + warp) * 32), 4);
    recording.event(kFence, cta, warp);
    recording.event(kBarrier, cta, warp);
  }
  recording.atomic(kTicket, cta, 0, global(1U << 24), cta, cta + 1);
  recording.event(kFence, cta, 0);
}

void lock(Recording& recording, std::uint32_t cta) {
  for (std::uint32_t round = 0; round < 4; ++round) {
    recording.atomic(kLockCas, cta, 0, global(1U << 24), 0, 1);
    recording.event(kFence, cta, 0);
    recording.event(kSyncWarp, cta, 0);
    recording.pattern(kLoad, cta, 0, global(0), 4);
    recording.pattern(kStore, cta, 0, global(0), 4);
    recording.event(kSyncWarp, cta, 0);
    recording.event(kFence, cta, 0);
    recording.atomic(kUnlock, cta, 0, global(1U << 24), 1, 0);
  }
}

void all_warps(Recording& recording, Site site, std::uint32_t cta) {
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    recording.event(site, cta, warp);
  }
}

// What a block does between two barriers of the grid.
using Step = void (*)(Recording&, std::uint32_t cta, std::uint32_t ctas, std::uint32_t round);

// Blocks that meet at barriers of the grid, as grid_group::sync() has them: each adds to a word, so
// that its highest bit changes with the last, and polls for that. Blocks take turns at random.
template <Step step, std::uint32_t rounds>
void grid_barriers(Recording& recording, std::uint32_t ctas) {
  const std::uint64_t word = global(1U << 28);

  struct Block {
    std::uint32_t round = 0, arrived_at = 0;
    bool waits = false;
  };

  std::vector<Block> blocks(ctas);
  std::uint32_t value = 0, over = 0;
  for (std::uint64_t state = 1; over < ctas;) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto cta = static_cast<std::uint32_t>((state >> 33) % ctas);
    Block& block = blocks[cta];
    if (block.round == rounds) {
      continue;
    }
    if (!block.waits) {
      step(recording, cta, ctas, block.round);
      all_warps(recording, kBarrier, cta);
      recording.event(kFence, cta, 0);
      block.arrived_at = value;
      value += cta == 0 ? kGridBit - (ctas - 1) : 1;
      recording.atomic(kTicket, cta, 0, word, block.arrived_at, value);
      block.waits = true;
      continue;
    }
    recording.poll(kPoll, cta, 0, word, value);
    if (((block.arrived_at ^ value) & kGridBit) == 0) {
      continue;
    }
    recording.event(kFence, cta, 0);
    all_warps(recording, kBarrier, cta);
    block.waits = false;
    if (++block.round == rounds) {
      all_warps(recording, kExit, cta);
      ++over;
    }
  }
}

// Each block writes its own part, and reads that of another.
void exchange(Recording& recording, std::uint32_t cta, std::uint32_t ctas, std::uint32_t round) {
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    const std::uint64_t from = (cta + 7) % ctas, half = round % 2 * (1U << 24);
    recording.pattern(kStore, cta, warp, global(half + (cta * kWarps + warp) * 32), 4);
    recording.pattern(kLoad, cta, warp, global((1U << 24) - half + (from * kWarps + warp) * 32), 4);
  }
}

// A sum over the grid, as that of conjugateGradientMultiBlockCG: cleared by one thread, added to by
// one of each block, read by all, with a barrier between each two of these.
void sum(Recording& recording, std::uint32_t cta, std::uint32_t /*ctas*/, std::uint32_t round) {
  const std::uint64_t at = global(1U << 24);
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    if (round % 3 == 2) {
      recording.pattern(kLoad, cta, warp, at, 0);
    } else if (warp == 0 && (cta == 0 || round % 3 == 1)) {
      recording.first_lane(round % 3 == 0 ? kStore : kAtomicAdd, cta, warp, at);
    }
  }
}

template <void (*kernel)(Recording&, std::uint32_t)>
void for_each_cta(Recording& recording, std::uint32_t ctas) {
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    kernel(recording, cta);
    all_warps(recording, kExit, cta);
  }
}

}  // namespace
}  // namespace barracuda::detector

// threads=1,2,4: a column for each number of threads. Other arguments: only the traces whose names
// contain one of them.
int main(int argument_count, char** arguments) {
  using namespace barracuda::detector;

  struct Shape {
    const char* name;
    std::uint32_t ctas;
    void (*kernel)(Recording&, std::uint32_t);
  };

  std::vector<std::uint32_t> threads{1};
  std::vector<std::string> wanted;
  for (const std::string argument :
       std::span(arguments, static_cast<std::size_t>(argument_count)).subspan(1)) {
    if (!argument.starts_with("threads=")) {
      wanted.push_back(argument);
      continue;
    }
    threads.clear();
    std::istringstream numbers(argument.substr(argument.find('=') + 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      threads.push_back(static_cast<std::uint32_t>(std::stoul(number)));
    }
  }
  std::printf("threads:");
  for (const std::uint32_t count : threads) {
    std::printf(" %u", count);
  }
  std::printf("\n");
  for (const Shape& shape :
       {Shape{"coalesced loads and stores", 4096, for_each_cta<coalesced>},
        Shape{"strided stores (matrix columns)", 1024, for_each_cta<strided>},
        Shape{"tiles of 16 x 16 threads", 65536, for_each_cta<tiles>},
        Shape{"one table read by every block", 2048, for_each_cta<shared_table>},
        Shape{"histogram by atomics (256 bins)", 512, for_each_cta<histogram>},
        Shape{"histogram in shared memory", 512, for_each_cta<shared_histogram>},
        Shape{"reduction in shared memory", 32768, for_each_cta<reduction>},
        Shape{"barriers only", 2048, for_each_cta<barriers>},
        Shape{"last block by ticket", 8192, for_each_cta<last_block>},
        Shape{"a lock", 1024, for_each_cta<lock>},
        Shape{"barriers of a grid", 528, grid_barriers<exchange, 20>},
        Shape{"a sum between barriers of a grid", 528, grid_barriers<sum, 21>}}) {
    const bool is_wanted =
        wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& part) {
          return std::strstr(shape.name, part.c_str()) != nullptr;
        });
    if (is_wanted) {
      measure(shape.name, shape.ctas, shape.kernel, threads);
    }
  }
}
