// Records of cluster barriers, mbarriers and asynchronous copies: which lanes, which operands, in
// which order.
#include <algorithm>
#include <iterator>
#include <set>

#include <catch2/catch.hpp>

#include "device_logger/matrix_descriptor.h"
#include "logged_machine.h"

namespace barracuda::wire {
namespace {

std::uint64_t shared(std::uint64_t offset) {
  return tagged_address(AddressSpace::kShared, offset);
}

std::uint64_t of_cta(std::uint32_t rank, std::uint64_t offset) {
  return tagged_address(AddressSpace::kSharedCluster, std::uint64_t{rank} << 32 | offset);
}

struct Lane {
  std::uint32_t thread = 0;  // in its CTA
  std::uint64_t target = 0, amount = 0, second = 0, third = 0;
  std::uint32_t flags = 0;

  friend bool operator==(const Lane&, const Lane&) = default;
};

std::ostream& operator<<(std::ostream& out, const Lane& lane) {
  return out << std::hex << "{thread " << lane.thread << ", target " << lane.target << ", amount "
             << lane.amount << ", second " << lane.second << ", third " << lane.third << ", flags "
             << lane.flags << "}";
}

// What one launch logged.
struct Log {
  const LoggedMachine* machine;
  std::vector<LoggedRecord> records;
  std::uint64_t box = 0, barrier = 0;  // offsets in shared memory

  // Of the instruction of that name, in one CTA.
  [[nodiscard]] std::vector<LoggedRecord> of(std::string_view name, std::uint32_t cta = 0) const {
    std::vector<LoggedRecord> found;
    std::ranges::copy_if(records, std::back_inserter(found), [&](const LoggedRecord& record) {
      return machine->site_of(record).instruction == name && record.header.cta == cta;
    });
    return found;
  }

  // The lanes that did so, by thread.
  [[nodiscard]] std::vector<Lane> lanes_of(std::string_view name, std::uint32_t cta = 0) const {
    std::vector<Lane> lanes;
    for (const LoggedRecord& record : of(name, cta)) {
      for (const auto& [lane, logged] : record.lanes) {
        lanes.push_back({.thread = record.pattern.warp * 32U + static_cast<std::uint32_t>(lane),
                         .target = logged.address,
                         .amount = logged.number,
                         .second = logged.read,
                         .third = logged.written,
                         .flags = logged.flags});
      }
    }
    std::ranges::sort(lanes, {}, &Lane::thread);
    return lanes;
  }

  [[nodiscard]] const SiteInfo& info_of(std::string_view name, std::uint32_t cta = 0) const {
    const auto found = of(name, cta);
    REQUIRE(!found.empty());
    return machine->site_of(found.front()).info;
  }

  // The lanes of a warp whose events of that instruction are logged.
  [[nodiscard]] std::uint32_t mask_of(std::string_view name, std::uint32_t cta,
                                      std::uint32_t warp) const {
    std::uint32_t mask = 0;
    for (const LoggedRecord& record : of(name, cta)) {
      if (record.pattern.warp == warp) {
        CHECK(record.kind() == RecordKind::kEvent);
        CHECK((mask & record.header.mask) == 0);
        mask |= record.header.mask;
      }
    }
    return mask;
  }
};

struct Shape {
  std::uint32_t ctas, threads;
};

Log log_of(LoggedMachine& machine, const std::string& kernel, Shape shape,
           std::vector<std::uint64_t> more = {}) {
  const std::uint64_t out = machine.allocate(256);
  more.insert(more.begin(), out);
  machine.launch(kernel, shape.ctas, shape.threads, more, shape.ctas);
  Log log{.machine = &machine, .records = machine.read()};
  log.box = LoggedMachine::at<std::uint32_t>(out)[0] & 0xFFFFFF;
  log.barrier = LoggedMachine::at<std::uint32_t>(out)[1] & 0xFFFFFF;
  return log;
}

LogOptions options_of(CommitMode mode) {
  return {.mode = mode};
}

}  // namespace

TEST_CASE("mbarrier operations say their counts and bytes, lane by lane", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS, options_of(mode));
  const Log log = log_of(machine, "mbarriers", {1, 40});
  const std::uint64_t barrier = shared(log.barrier);
  const auto one = [&](std::uint32_t thread, std::uint64_t amount, std::uint64_t bytes = 0,
                       std::uint32_t flags = 0) {
    return std::vector<Lane>{
        {.thread = thread, .target = barrier, .amount = amount, .second = bytes, .flags = flags}};
  };
  CHECK(log.lanes_of("mbarrier.init.shared.b64") == one(0, 45));
  const auto arrivals = log.lanes_of("mbarrier.arrive.shared.b64");
  const auto waits = log.lanes_of("mbarrier.try_wait.shared.b64");
  REQUIRE(arrivals.size() == 40);
  REQUIRE(waits.size() == 40);
  for (std::uint32_t thread = 0; thread < 40; ++thread) {
    CHECK(arrivals[thread] == one(thread, 1)[0]);
    CHECK(waits[thread] == one(thread, kUnknownParity)[0]);
  }
  CHECK(log.lanes_of("mbarrier.arrive_drop.shared.b64") == one(1, 1, 0, kLaneDrops));
  CHECK(log.lanes_of("mbarrier.arrive.noComplete.shared.b64") == one(2, 2));
  CHECK(log.lanes_of("mbarrier.expect_tx.relaxed.cta.shared::cta.b64") == one(33, 0, 32));
  const auto completed = log.lanes_of("mbarrier.complete_tx.relaxed.cta.shared::cta.b64");
  REQUIRE(completed.size() == 2);
  CHECK(completed[0] == one(3, 0, 16)[0]);
  CHECK(completed[1] == one(33, 0, 32)[0]);
  CHECK(log.lanes_of("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64") == one(3, 1, 16));
  CHECK(log.lanes_of("mbarrier.arrive.release.cluster.b64") == one(34, 1));
  CHECK(log.lanes_of("mbarrier.inval.b64") == one(0, 0));
  // The phase of parity 0 is over, that of parity 1 is not.
  const auto tests = log.lanes_of("mbarrier.test_wait.parity.relaxed.cluster.b64");
  REQUIRE(tests.size() == 20);
  for (std::uint32_t i = 0; i < 20; ++i) {
    CHECK(tests[i] == one(2 * i, 0)[0]);
  }
}

TEST_CASE("sites of mbarrier operations have their order and scope, waits come last", "[logger]") {
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS);
  const Log log = log_of(machine, "mbarriers", {1, 40});
  const auto check = [&](std::string_view name, Operation operation, MemoryOrder order,
                         Scope scope) {
    INFO(name);
    const SiteInfo& info = log.info_of(name);
    CHECK(info.operation == operation);
    CHECK(info.order == order);
    CHECK(info.scope == scope);
    CHECK(info.element_bytes == 8);
    CHECK(info.element_count == 1);
    CHECK(info.proxy == Proxy::kGeneric);
    CHECK_FALSE(info.numbered);
    for (const LoggedRecord& record : log.of(name)) {
      CHECK(record.kind() == RecordKind::kOperands);
    }
  };
  check("mbarrier.init.shared.b64", Operation::kMbarrierInit, MemoryOrder::kWeak, Scope::kCta);
  check("mbarrier.inval.b64", Operation::kMbarrierInvalidate, MemoryOrder::kWeak, Scope::kCta);
  check("mbarrier.arrive.shared.b64", Operation::kMbarrierArrive, MemoryOrder::kRelease,
        Scope::kCta);
  check("mbarrier.arrive.release.cluster.b64", Operation::kMbarrierArrive, MemoryOrder::kRelease,
        Scope::kCluster);
  check("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", Operation::kMbarrierExpect,
        MemoryOrder::kRelaxed, Scope::kCta);
  check("mbarrier.complete_tx.relaxed.cta.shared::cta.b64", Operation::kMbarrierComplete,
        MemoryOrder::kRelaxed, Scope::kCta);
  check("mbarrier.try_wait.shared.b64", Operation::kMbarrierWait, MemoryOrder::kAcquire,
        Scope::kCta);
  check("mbarrier.test_wait.parity.relaxed.cluster.b64", Operation::kMbarrierWait,
        MemoryOrder::kRelaxed, Scope::kCluster);
  std::uint64_t last_arrival = 0, first_wait = ~std::uint64_t{0};
  for (const LoggedRecord& record : log.records) {
    const Operation operation = machine.site_of(record).info.operation;
    if (operation == Operation::kMbarrierArrive || operation == Operation::kMbarrierComplete) {
      last_arrival = std::max(last_arrival, record.slot);
    } else if (operation == Operation::kMbarrierWait) {
      first_wait = std::min(first_wait, record.slot);
    }
  }
  CHECK(last_arrival < first_wait);
}

TEST_CASE("a cluster's arrivals come before its waits, of the lanes that take part", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS, options_of(mode));
  const Log log = log_of(machine, "cluster_barriers", {2, 33});
  constexpr std::uint32_t kAll = 0xFFFFFFFF, kWithoutSeventh = ~(1U << 7);
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    for (const std::string_view name :
         {"barrier.cluster.arrive.release", "barrier.cluster.wait.acquire",
          "fence.mbarrier_init.release.cluster"}) {
      CHECK(log.mask_of(name, cta, 0) == kAll);
      CHECK(log.mask_of(name, cta, 1) == 1);
    }
    for (const std::string_view name : {"barrier.cluster.arrive.relaxed", "barrier.cluster.wait",
                                        "fence.proxy.async.shared::cta"}) {
      CHECK(log.mask_of(name, cta, 0) == kWithoutSeventh);
      CHECK(log.mask_of(name, cta, 1) == 1);
    }
  }
  const auto last_slot = [&](std::string_view name) {
    return std::max(log.of(name, 0).back().slot, log.of(name, 1).back().slot);
  };
  const auto first_slot = [&](std::string_view name) {
    return std::min(log.of(name, 0).front().slot, log.of(name, 1).front().slot);
  };
  CHECK(last_slot("barrier.cluster.arrive.release") < first_slot("barrier.cluster.wait.acquire"));
  CHECK(last_slot("barrier.cluster.arrive.relaxed") < first_slot("barrier.cluster.wait"));
  const SiteInfo& arrive = log.info_of("barrier.cluster.arrive.release");
  CHECK(arrive.operation == Operation::kClusterArrive);
  CHECK(arrive.order == MemoryOrder::kRelease);
  CHECK(arrive.scope == Scope::kCluster);
  CHECK(log.info_of("barrier.cluster.arrive.relaxed").order == MemoryOrder::kRelaxed);
  CHECK(log.info_of("barrier.cluster.wait").operation == Operation::kClusterWait);
  CHECK(log.info_of("barrier.cluster.wait").order == MemoryOrder::kAcquire);
  CHECK(log.info_of("fence.proxy.async.shared::cta").operation == Operation::kProxyFence);
  const SiteInfo& fence = log.info_of("fence.mbarrier_init.release.cluster");
  CHECK(fence.operation == Operation::kFence);
  CHECK(fence.order == MemoryOrder::kRelease);
  CHECK(fence.scope == Scope::kCluster);
}

TEST_CASE("a cp.async is a read of the bytes it reads and a write of all it writes", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS, options_of(mode));
  const std::uint64_t in = machine.allocate(2048);
  const Log log = log_of(machine, "plain_copies", {1, 40}, {in});
  std::map<std::uint32_t, std::multiset<std::uint64_t>> read, written;  // bytes, by thread
  for (const LoggedRecord& record : log.of("cp.async.cg.shared.global")) {
    const SiteInfo& info = machine.site_of(record).info;
    CHECK(info.asynchrony == Asynchrony::kThreadGroup);
    CHECK(info.order == MemoryOrder::kWeak);
    CHECK(info.proxy == Proxy::kGeneric);
    for (const auto& [lane, logged] : record.lanes) {
      auto& bytes = info.operation == Operation::kWrite ? written : read;
      for (std::uint32_t i = 0; i < info.element_bytes; ++i) {
        bytes[record.pattern.warp * 32U + static_cast<std::uint32_t>(lane)].insert(logged.address +
                                                                                   i);
      }
    }
  }
  for (std::uint32_t thread = 0; thread < 40; ++thread) {
    std::multiset<std::uint64_t> from, to;
    for (std::uint32_t i = 0; i < 16; ++i) {
      to.insert(shared(log.box) + 16 * thread + i);
      if (i < thread % 17) {
        from.insert(in + 16 * thread + i);
      }
    }
    CHECK(read[thread] == from);
    CHECK(written[thread] == to);
  }
}

TEST_CASE("copies of known size read what they say, predicated ones in their lanes", "[logger]") {
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS);
  const std::uint64_t in = machine.allocate(2048);
  const Log log = log_of(machine, "plain_copies", {1, 40}, {in});

  struct Side {
    std::uint64_t address;
    std::uint32_t bytes;
    bool writes;
    auto operator<=>(const Side&) const = default;
  };

  std::map<std::uint32_t, std::vector<Side>> sides;
  for (const LoggedRecord& record : log.of("cp.async.ca.shared.global")) {
    const SiteInfo& info = machine.site_of(record).info;
    for (const auto& [lane, logged] : record.lanes) {
      sides[record.pattern.warp * 32U + static_cast<std::uint32_t>(lane)].push_back(
          {logged.address, info.element_bytes, info.operation == Operation::kWrite});
    }
  }
  REQUIRE(sides.size() == 40);
  for (auto& [thread, found] : sides) {
    const std::uint64_t from = in + 16 * thread, to = shared(log.box) + 16 * thread + 1024;
    std::vector<Side> expected = {
        {to, 4, true}, {from, 4, false}, {from + 4, 1, false}, {to + 8, 8, true}};
    if (thread < 4) {
      expected.push_back({from + 8, 8, false});
      expected.push_back({to, 8, true});
    }
    std::ranges::sort(found);
    std::ranges::sort(expected);
    CHECK((found == expected));
  }
}

TEST_CASE("groups of copies are committed, waited for and joined to mbarriers", "[logger]") {
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS);
  const std::uint64_t in = machine.allocate(2048);
  const Log log = log_of(machine, "plain_copies", {1, 40}, {in});
  std::map<std::uint32_t, int> commits;  // by thread
  for (const LoggedRecord& record : log.of("cp.async.commit_group")) {
    CHECK(record.kind() == RecordKind::kEvent);
    CHECK(machine.site_of(record).info.operation == Operation::kAsyncCommit);
    CHECK(machine.site_of(record).info.asynchrony == Asynchrony::kThreadGroup);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      commits[record.pattern.warp * 32U + lane] += (record.header.mask >> lane & 1) != 0 ? 1 : 0;
    }
  }
  for (std::uint32_t thread = 0; thread < 40; ++thread) {
    CHECK(commits[thread] == (thread < 4 ? 2 : 1));
  }
  for (const LoggedRecord& record : log.of("cp.async.wait_group")) {
    CHECK(record.pattern.base_low == 1);
    CHECK_FALSE(machine.site_of(record).info.reads_only);
  }
  CHECK(log.mask_of("cp.async.wait_group", 0, 1) == 0xFF);
  CHECK(log.info_of("cp.async.wait_group").operation == Operation::kAsyncWait);
  for (const LoggedRecord& record : log.of("cp.async.wait_all")) {
    CHECK(record.pattern.base_low == kWaitAll);
  }
  CHECK(log.mask_of("cp.async.wait_all", 0, 0) == 0xFFFFFFFF);
  const auto joined = log.lanes_of("cp.async.mbarrier.arrive.noinc.shared.b64");
  REQUIRE(joined.size() == 40);
  for (std::uint32_t thread = 0; thread < 40; ++thread) {
    CHECK(joined[thread] == Lane{.thread = thread, .target = shared(log.barrier), .amount = 1});
  }
  CHECK(log.info_of("cp.async.mbarrier.arrive.b64").operation == Operation::kAsyncArrive);
  CHECK(log.lanes_of("cp.async.mbarrier.arrive.b64") ==
        std::vector<Lane>{{.thread = 0, .target = shared(log.barrier), .amount = 0}});
}

TEST_CASE("bulk copies and stores to the cluster say where from, where to and who is told",
          "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS, options_of(mode));
  const std::uint64_t in = machine.allocate(2048);
  const Log log = log_of(machine, "bulk_copies", {2, 1}, {in});
  const std::string to_cluster = "cp.async.bulk.shared::cluster.";
  const std::string signals = "mbarrier::complete_tx::bytes";
  const std::uint64_t box = log.box, own = shared(log.barrier);
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    const std::uint32_t other = cta ^ 1;
    const std::uint64_t theirs = of_cta(other, log.barrier);
    const auto check = [&](const std::string& name, const Lane& lane) {
      INFO(name << " of CTA " << cta);
      CHECK(log.lanes_of(name, cta) == std::vector{lane});
    };
    check(to_cluster + "global." + signals,
          {.target = shared(box), .amount = 64, .second = in, .third = own});
    check(to_cluster + "shared::cta." + signals, {.target = of_cta(other, box + 256),
                                                  .amount = 32,
                                                  .second = shared(box + 512),
                                                  .third = theirs});
    check(
        "st.async.weak.shared::cluster." + signals + ".v4.b32",
        {.target = of_cta(other, box + 640), .amount = 16, .second = kNoOperand, .third = theirs});
    check("cp.reduce.async.bulk.shared::cluster.shared::cta." + signals + ".add.u32",
          {.target = of_cta(other, box + 768),
           .amount = 32,
           .second = shared(box + 512),
           .third = theirs});
    const auto reductions =
        log.lanes_of("red.async.relaxed.cluster.shared::cluster." + signals + ".add.u32", cta);
    REQUIRE(reductions.size() == 2);
    CHECK(std::set{reductions[0].target, reductions[1].target} ==
          std::set{of_cta(other, box + 704), of_cta(other, box + 708)});
    CHECK(reductions[0].amount == 4);
    CHECK(reductions[0].second == kNoOperand);
    CHECK(reductions[0].third == theirs);
    check("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", {.target = own});
    check(
        "cp.async.bulk.global.shared::cta.bulk_group",
        {.target = in + 256 * cta + 256, .amount = 64, .second = shared(box), .third = kNoOperand});
    check(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64",
        {.target = in + 256 * cta + 320, .amount = 16, .second = shared(box), .third = kNoOperand});
  }
  const std::string multicast = to_cluster + "global." + signals + ".multicast::cluster";
  CHECK(log.lanes_of(multicast, 0) == std::vector<Lane>{{.target = shared(box + 384),
                                                         .amount = 32,
                                                         .second = in + 64,
                                                         .third = own,
                                                         .flags = 3}});
  CHECK(log.lanes_of(multicast, 1).empty());
}

TEST_CASE("sites of copies say what waits for them", "[logger]") {
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS);
  const std::uint64_t in = machine.allocate(2048);
  const Log log = log_of(machine, "bulk_copies", {2, 1}, {in});
  const auto check = [&](std::string_view name, Asynchrony asynchrony, Proxy proxy,
                         MemoryOrder order, std::uint32_t bytes) {
    INFO(name);
    const SiteInfo& info = log.info_of(name);
    CHECK(info.operation == Operation::kCopy);
    CHECK(info.asynchrony == asynchrony);
    CHECK(info.proxy == proxy);
    CHECK(info.order == order);
    CHECK(info.element_bytes == bytes);
  };
  const std::string signals = ".mbarrier::complete_tx::bytes";
  check("cp.async.bulk.shared::cluster.global" + signals, Asynchrony::kMbarrier, Proxy::kAsync,
        MemoryOrder::kWeak, 1);
  check("cp.reduce.async.bulk.shared::cluster.shared::cta" + signals + ".add.u32",
        Asynchrony::kMbarrier, Proxy::kAsync, MemoryOrder::kRelaxed, 4);
  check("cp.async.bulk.global.shared::cta.bulk_group", Asynchrony::kBulkGroup, Proxy::kAsync,
        MemoryOrder::kWeak, 1);
  check("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64", Asynchrony::kBulkGroup,
        Proxy::kAsync, MemoryOrder::kRelaxed, 8);
  CHECK(log.info_of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64").scope ==
        Scope::kGpu);
  check("st.async.weak.shared::cluster" + signals + ".v4.b32", Asynchrony::kMbarrier,
        Proxy::kGeneric, MemoryOrder::kWeak, 4);
  const std::string reduction = "red.async.relaxed.cluster.shared::cluster" + signals + ".add.u32";
  check(reduction, Asynchrony::kMbarrier, Proxy::kGeneric, MemoryOrder::kRelaxed, 4);
  CHECK(log.info_of(reduction).scope == Scope::kCluster);
  CHECK(log.info_of("cp.async.bulk.commit_group").operation == Operation::kAsyncCommit);
  CHECK(log.info_of("cp.async.bulk.commit_group").asynchrony == Asynchrony::kBulkGroup);
  CHECK(log.info_of("cp.async.bulk.wait_group.read").reads_only);
  CHECK(log.of("cp.async.bulk.wait_group.read")[0].pattern.base_low == 1);
  CHECK_FALSE(log.info_of("cp.async.bulk.wait_group").reads_only);
  CHECK(log.of("cp.async.bulk.wait_group")[0].pattern.base_low == 0);
  CHECK(log.info_of("cp.async.bulk.wait_group").asynchrony == Asynchrony::kBulkGroup);
}

TEST_CASE("a wgmma is logged by one lane of each warp, with its descriptors", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS, options_of(mode));
  const Log log = log_of(machine, "products", {1, 128});
  const std::string halves = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
  const std::string narrow = "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16";
  const std::uint64_t a = (log.box >> 4) + (256ULL >> 4 << 32) + (128ULL >> 4 << 16), b = a + 32;
  std::vector<Lane> of_halves, of_narrow;
  for (std::uint32_t thread = 0; thread < 128; thread += 32) {
    of_halves.push_back({.thread = thread, .target = shared(0), .second = a, .third = b});
    of_narrow.push_back({.thread = thread, .target = shared(0), .second = kNoOperand, .third = b});
  }
  CHECK(log.lanes_of(halves) == of_halves);
  CHECK(log.lanes_of(narrow) == of_narrow);
  for (const std::string& name : {halves, narrow}) {
    const SiteInfo& info = log.info_of(name);
    CHECK(info.operation == Operation::kMatrixProduct);
    CHECK(info.asynchrony == Asynchrony::kMatrixGroup);
    CHECK(info.proxy == Proxy::kAsync);
    CHECK(info.element_bytes == kUnitBytes);
  }
  CHECK(ProductShape::of(log.info_of(halves).constant) == ProductShape{.columns = 8});
  CHECK(ProductShape::of(log.info_of(narrow).constant) ==
        ProductShape{.columns = 16, .has_registers = true, .b = MatrixMajor::kRows});
  CHECK(log.of("wgmma.fence.sync.aligned").empty());
  CHECK(log.info_of("wgmma.commit_group.sync.aligned").operation == Operation::kAsyncCommit);
  CHECK(log.info_of("wgmma.commit_group.sync.aligned").asynchrony == Asynchrony::kMatrixGroup);
  CHECK(log.info_of("wgmma.wait_group.sync.aligned").operation == Operation::kAsyncWait);
  const auto waits = log.of("wgmma.wait_group.sync.aligned");
  REQUIRE(waits.size() == 8);  // of four warps
  std::uint32_t left = 0;
  for (const LoggedRecord& wait : waits) {
    CHECK(wait.header.mask == ~std::uint32_t{0});
    left += wait.pattern.base_low;
  }
  CHECK(left == 4);
}

}  // namespace barracuda::wire
