// Slices of recorded launches: who does what is written as records, as they lie in a trace.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "device_logger/record.h"
#include "weak_memory/litmus.h"
#include "weak_memory/slice/pair_search.h"

namespace barracuda::weak_memory {
namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;

constexpr detector::LaunchId kLaunch{1};
constexpr std::uint64_t kData = 0x1000, kFlag = 0x2000, kOther = 0x3000;

// One thread in each CTA, lane 0 of warp 0, unless a warp is named.
class Recording {
 public:
  Recording() {
    history_.take(trace::LaunchBegun{.launch = {.id = kLaunch,
                                                .grid = {.x = 8},
                                                .block = {.x = 64},
                                                .cluster = {},
                                                .ordered_after = {},
                                                .prerequisite_over = {}}});
  }

  // Its statement is k#N, N from 1.
  wire::SiteId site(Operation operation, MemoryOrder order = MemoryOrder::kWeak,
                    Scope scope = Scope::kGpu) {
    ptx::Site made;
    made.id = wire::SiteId{sites_++};
    made.info.operation = operation;
    made.info.order = order;
    made.info.scope = scope;
    made.info.element_bytes = 4;
    made.info.element_count = 1;
    made.function = "k";
    made.ordinal = sites_;
    made.instruction = "i";
    history_.take(trace::SiteDescribed{.site = made});
    return made.id;
  }

  void plain(std::uint32_t cta, wire::SiteId site, std::uint64_t address, std::uint32_t warp = 0) {
    begin(RecordKind::kAffine, cta, site, warp, static_cast<std::uint32_t>(address));
    end();
  }

  void event(std::uint32_t cta, wire::SiteId site, std::uint32_t warp = 0) {
    begin(RecordKind::kEvent, cta, site, warp, 0);
    end();
  }

  void store(std::uint32_t cta, wire::SiteId site, std::uint64_t address, std::uint64_t value) {
    release(cta, site, address, wire::kLaneHasWritten, 0, value);
  }

  // The first record of an atomic, before its access; load() is the second one.
  void begin_update(std::uint32_t cta, wire::SiteId site, std::uint64_t address,
                    std::uint64_t written) {
    release(cta, site, address, wire::kLaneHasWritten, 0, written);
  }

  // With the record that it acquires, too.
  void update(std::uint32_t cta, wire::SiteId site, std::uint64_t address, std::uint64_t read,
              std::uint64_t written) {
    release(cta, site, address, wire::kLaneHasWritten | wire::kLaneHasRead, read, written);
    load(cta, site, address, read);
  }

  void load(std::uint32_t cta, wire::SiteId site, std::uint64_t address, std::uint64_t read) {
    begin(RecordKind::kAcquire, cta, site, 0, 0);
    add(wire::LaneAcquire{
        .sync = {.tag = 1, .flags = 0, .address_low = static_cast<std::uint32_t>(address)},
        .value_read = {.value_low = static_cast<std::uint32_t>(read)}});
    end();
  }

  [[nodiscard]] const History& history() const { return history_; }

 private:
  void begin(RecordKind kind, std::uint32_t cta, wire::SiteId site, std::uint32_t warp,
             std::uint32_t base) {
    wire::HeaderHalf header{};
    header.tag = 1;
    header.site = static_cast<std::uint32_t>(site) & (wire::kMaxSites - 1);
    header.kind = static_cast<std::uint32_t>(kind) & 0xF;
    header.mask = 1;
    header.cta = cta;
    wire::PatternHalf pattern{};
    pattern.base_low = base;
    pattern.warp = warp & 0x1F;
    bytes_.clear();
    add(header);
    add(pattern);
  }

  template <typename Half>
  void add(const Half& half) {
    const auto* const from = reinterpret_cast<const std::byte*>(&half);
    bytes_.insert(bytes_.end(), from, from + sizeof(half));
  }

  void release(std::uint32_t cta, wire::SiteId site, std::uint64_t address, std::uint16_t flags,
               std::uint64_t read, std::uint64_t written) {
    begin(RecordKind::kRelease, cta, site, 0, 0);
    add(wire::LaneRelease{
        .sync = {.tag = 1, .flags = flags, .address_low = static_cast<std::uint32_t>(address)},
        .value_read = {.value_low = static_cast<std::uint32_t>(read)},
        .value_written = {.value_low = static_cast<std::uint32_t>(written)}});
    end();
  }

  void end() { history_.take(trace::RecordApplied{.launch = kLaunch, .record = bytes_}); }

  std::uint32_t sites_ = 0;
  std::vector<std::byte> bytes_;
  History history_{kLaunch, {"k#1", "k#2"}};
};

// The pair of statements 1 and 2.
PairAnswer answer_of(const Recording& recording) {
  const auto pairs =
      pairs_of(recording.history(), {.first = "k#1", .second = "k#2", .threads = {}});
  REQUIRE(pairs.size() == 1);
  return answer_for(recording.history(), Handovers(recording.history()), pairs.front());
}

struct Sites {
  explicit Sites(Recording& recording)
      : write(recording.site(Operation::kWrite)),
        read(recording.site(Operation::kRead)),
        flag(recording.site(Operation::kWrite, MemoryOrder::kRelaxed)),
        poll(recording.site(Operation::kRead, MemoryOrder::kRelaxed)),
        fence(recording.site(Operation::kFence, MemoryOrder::kSeqCst)),
        narrow(recording.site(Operation::kFence, MemoryOrder::kSeqCst, Scope::kCta)),
        ticket(recording.site(Operation::kAtomic, MemoryOrder::kRelaxed)),
        barrier(recording.site(Operation::kBarrier)) {}

  wire::SiteId write, read, flag, poll, fence, narrow, ticket, barrier;
};

void hand_over(Recording& recording, const Sites& sites, wire::SiteId writers,
               wire::SiteId readers) {
  recording.plain(0, sites.write, kData);
  recording.event(0, writers);
  recording.store(0, sites.flag, kFlag, 7);
  recording.load(1, sites.poll, kFlag, 7);
  recording.event(1, readers);
  recording.plain(1, sites.read, kData);
}

void check_reads_back(const LitmusSlice& slice) {
  const auto again = memory_model::read_litmus(slice.text(), "slice", memory_model::Dialect::kOwn);
  INFO(slice.text());
  REQUIRE(again.has_value());
  CHECK(memory_model::litmus_text(*again) == memory_model::litmus_text(slice.test));
}

}  // namespace

TEST_CASE("the slice of a hand-over whose fence is too narrow has the race") {
  Recording recording;
  const Sites sites(recording);
  hand_over(recording, sites, sites.narrow, sites.fence);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  CHECK(answer.is_racy);
  CHECK(answer.slice->text() ==
        "PTX slice\n\"x: k#1 and k#2; y: k#3\"\n{\nx=0;\ny=0;\n}\n"
        "P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 1,gpu 0 ;\n"
        "st.weak x, 1 | ld.relaxed.gpu r1, y ;\n"
        "fence.sc.cta | bne r1, 1, L4 ;\n"
        "st.relaxed.gpu y, 1 | fence.sc.gpu ;\n"
        " | ld.weak r2, x ;\n"
        " | L4:  ;\n"
        "exists (P1:r1 == 1 /\\ P1:r2 == 0)\n");
  check_reads_back(*answer.slice);
}

TEST_CASE("with fences that are wide enough it has none, and gets to its end") {
  Recording recording;
  const Sites sites(recording);
  hand_over(recording, sites, sites.fence, sites.fence);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  CHECK_FALSE(answer.is_racy);
  CHECK(answer.why_not.empty());
  CHECK(verdict_of(*answer.slice).is_reached);
}

TEST_CASE("where nothing is handed over the two accesses are alone") {
  Recording recording;
  const Sites sites(recording);
  recording.plain(0, sites.write, kData);
  recording.store(0, sites.flag, kFlag, 1);
  recording.load(2, sites.poll, kFlag, 1);  // a thread that does not matter
  recording.plain(1, sites.read, kData);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  CHECK(answer.is_racy);
  CHECK(answer.slice->test.program.locations == 1);
  CHECK(answer.slice->test.program.threads.size() == 2);
}

TEST_CASE("a ticket that a third thread took in between is part of the chain") {
  Recording recording;
  const Sites sites(recording);
  recording.plain(0, sites.write, kData);
  recording.event(0, sites.fence);
  recording.update(0, sites.ticket, kFlag, 10, 11);
  recording.update(2, sites.ticket, kFlag, 11, 12);
  recording.update(1, sites.ticket, kFlag, 12, 13);
  recording.event(1, sites.fence);
  recording.plain(1, sites.read, kData);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  CHECK_FALSE(answer.is_racy);
  CHECK(answer.slice->test.program.threads.size() == 3);
  CHECK(answer.slice->text().find("atom.relaxed.gpu.cas r1, y, 2, 3") != std::string::npos);
  check_reads_back(*answer.slice);
}

TEST_CASE("a lock that is held when the slice begins is not free in it") {
  Recording recording;
  const Sites sites(recording);
  recording.update(0, sites.ticket, kFlag, 0, 1);
  recording.plain(0, sites.write, kData);
  recording.event(0, sites.fence);
  recording.store(0, sites.flag, kFlag, 0);
  recording.update(1, sites.ticket, kFlag, 0, 1);
  recording.event(1, sites.fence);
  recording.plain(1, sites.read, kData);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  INFO(answer.slice->text());
  CHECK_FALSE(answer.is_racy);
  CHECK(answer.why_not.empty());
}

TEST_CASE("an unlock that another thread's lock comes between the records of reads its own lock") {
  for (const bool is_fenced : {false, true}) {
    Recording recording;
    const Sites sites(recording);
    const auto lock = recording.site(Operation::kAtomic, MemoryOrder::kRelaxed);
    recording.update(0, lock, kFlag, 0, 1);
    recording.plain(0, sites.write, kData);
    if (is_fenced) {
      recording.event(0, sites.fence);
    }
    recording.begin_update(0, sites.ticket, kFlag, 0);
    recording.begin_update(1, lock, kFlag, 1);
    recording.load(1, lock, kFlag, 0);
    recording.load(0, sites.ticket, kFlag, 1);
    recording.event(1, sites.fence);
    recording.plain(1, sites.read, kData);
    const PairAnswer answer = answer_of(recording);
    REQUIRE(answer.slice);
    INFO(answer.slice->text());
    CHECK(answer.is_racy != is_fenced);
    CHECK(answer.why_not.empty());
  }
}

TEST_CASE("a reduction that read what is not in the slice hands on nothing of it") {
  Recording recording;
  const Sites sites(recording);
  const auto release = recording.site(Operation::kWrite, MemoryOrder::kRelease);
  const auto acquire = recording.site(Operation::kRead, MemoryOrder::kAcquire);
  const auto add = recording.site(Operation::kReduction, MemoryOrder::kRelaxed);
  recording.plain(0, sites.write, kData);
  recording.store(0, release, kFlag, 1);
  recording.load(2, sites.poll, kFlag, 1);
  recording.store(2, sites.flag, kFlag, 2);  // which the reduction reads, and breaks the chain
  recording.store(2, add, kFlag, 3);
  recording.store(2, release, kOther, 1);
  recording.load(1, acquire, kOther, 1);
  recording.load(1, acquire, kFlag, 3);
  recording.plain(1, sites.read, kData);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  INFO(answer.slice->text());
  CHECK(answer.is_racy);
  CHECK(answer.slice->text().find("st.relaxed.gpu y, 2") != std::string::npos);
  check_reads_back(*answer.slice);
}

TEST_CASE("a barrier between the two accesses orders them, one of another round does not") {
  for (const bool is_between : {false, true}) {
    Recording recording;
    const Sites sites(recording);
    if (!is_between) {
      recording.event(0, sites.barrier, 0);
      recording.event(0, sites.barrier, 1);
    }
    recording.plain(0, sites.write, kData, 0);
    if (is_between) {
      recording.event(0, sites.barrier, 0);
      recording.event(0, sites.barrier, 1);
    }
    recording.plain(0, sites.read, kData, 1);
    const PairAnswer answer = answer_of(recording);
    REQUIRE(answer.slice);
    CHECK(answer.is_racy != is_between);
    check_reads_back(*answer.slice);
  }
}

TEST_CASE("a reader that came to the barrier first has it in its slice") {
  Recording recording;
  const Sites sites(recording);
  recording.event(0, sites.barrier, 1);
  recording.plain(0, sites.write, kData, 0);
  recording.event(0, sites.barrier, 0);
  recording.plain(0, sites.read, kData, 1);
  CHECK_FALSE(answer_of(recording).is_racy);
}

TEST_CASE("what goes through more than three threads is not sliced") {
  Recording recording;
  const Sites sites(recording);
  recording.plain(0, sites.write, kData);
  recording.event(0, sites.fence);
  recording.store(0, sites.flag, kFlag, 1);
  recording.load(2, sites.poll, kFlag, 1);
  recording.store(2, sites.flag, kOther, 1);
  recording.load(3, sites.poll, kOther, 1);
  recording.store(3, sites.flag, kOther + 4, 1);
  recording.load(1, sites.poll, kOther + 4, 1);
  recording.plain(1, sites.read, kData);
  const PairAnswer answer = answer_of(recording);
  CHECK_FALSE(answer.slice);
  CHECK(answer.why_not.find("more than three threads") != std::string::npos);
}

TEST_CASE("two writes that nothing orders are asked for the first one at the end") {
  Recording recording;
  const auto first = recording.site(Operation::kWrite);
  const auto second = recording.site(Operation::kWrite);
  recording.plain(0, first, kData);
  recording.plain(1, second, kData);
  const PairAnswer answer = answer_of(recording);
  REQUIRE(answer.slice);
  CHECK(answer.is_racy);
  CHECK(answer.slice->text().ends_with("exists (x == 1)\n"));
}

}  // namespace barracuda::weak_memory
