// What delayed stores and stale reads show of clusters, mbarriers and matrices: never anything that
// is ordered, and what is not ordered sometimes.
#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

using Words = std::vector<std::uint64_t>;  // one a thread

constexpr std::string_view kShared =
    ".shared .align 16 .b8 box[1280];\n.shared .align 8 .b64 barrier;\n";
constexpr std::string_view kMeet =
    "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";

struct Kernel {
  std::string body;
  std::uint32_t blocks = 1, threads = 1;  // all blocks are one cluster
};

Weakness delays(double stores, double stale = 0) {
  Weakness weakness;
  weakness.delay_stores = stores;
  weakness.stale_reads = stale;
  return weakness;
}

std::vector<Weakness> all_settings() {
  Weakness threads_only = delays(0.5, 0.5);
  threads_only.block_level = false;
  Weakness small = delays(0.7, 0.5);
  small.capacity = 1;
  return {delays(1), delays(0.5), delays(0.5, 0.5), delays(0, 1), threads_only, small};
}

// How many of `times` runs show what is wrong.
int count_of(const Kernel& kernel, const Weakness& weakness, int times,
             const std::function<bool(const Words&)>& is_wrong) {
  MachineOptions options;
  options.seed = weakness.seed;
  options.weakness = weakness;
  Device device(kernel_text(kernel.body, std::string(kShared)), options);
  const std::size_t threads = std::size_t{kernel.blocks} * kernel.threads;
  const std::uint64_t out = device.buffer(Words(threads + 256, 0));
  LaunchConfig config = shape({kernel.blocks}, {kernel.threads});
  config.cluster = Dim3{kernel.blocks};
  int count = 0;
  for (int i = 0; i < times; ++i) {
    std::memset(reinterpret_cast<void*>(out), 0, (threads + 256) * 8);
    device.run_well("k", config, out);
    count += is_wrong(device.read<std::uint64_t>(out, threads)) ? 1 : 0;
  }
  return count;
}

void check_never(const Kernel& kernel, const std::function<bool(const Words&)>& is_wrong) {
  for (const Weakness& weakness : all_settings()) {
    INFO("stores " << weakness.delay_stores << " stale " << weakness.stale_reads << " capacity "
                   << weakness.capacity << " block level " << weakness.block_level);
    CHECK(count_of(kernel, weakness, 400, is_wrong) == 0);
  }
}

// --- clusters ---

// Block 1 has its shared memory cleared, and its mbarrier expects one arrival; %r1 the rank, %r2
// the own box, %r3 that of block 1.
Kernel of_two_blocks(std::string_view writer, std::string_view reader) {
  return {.body = fmt::format(R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, box;
    mapa.shared::cluster.u32 %r3, %r2, 1;
    mov.u32 %r20, barrier;
    mapa.shared::cluster.u32 %r21, %r20, 1;
    st.shared.u32 [%r2], 0;
    st.shared.u32 [%r2+64], 0;
    mbarrier.init.shared.b64 [%r20], 1;
    {0}
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READER;
    {1}
    bra END;
READER:
    {2}
    mov.b64 %d1, {{%r4, %r5}};
    st.global.u64 [%out], %d1;
END:
    {0})",
                              kMeet, writer, reader),
          .blocks = 2,
          .threads = 1};
}

// Looks for the flag some times, then at what it is about.
Kernel message(std::string_view writer, std::string_view reader) {
  return of_two_blocks(fmt::format(R"(
    st.shared::cluster.u32 [%r3], 1;
    {}
    st.relaxed.cluster.shared::cluster.u32 [%r3+64], 1;)",
                                   writer),
                       fmt::format(R"(
    mov.u32 %r6, 0;
AGAIN:
    add.u32 %r6, %r6, 1;
    ld.relaxed.cluster.shared::cta.u32 %r4, [%r2+64];
    setp.eq.u32 %p2, %r4, 0;
    setp.lt.and.u32 %p2, %r6, 20, %p2;
    @%p2 bra AGAIN;
    {}
    ld.shared.u32 %r5, [%r2];)",
                                   reader));
}

// The flag without the message.
bool is_weak(const Words& words) {
  return words[1] == 1;
}

// --- warps of one block ---

// Warp 0 clears `bytes` of the box and the flag behind them; then it writes, with %r4 16 bytes that
// are its lane's alone, and are in another lane's rows; warp 1 has the flag in %r5 and leaves what
// it has read in %r7.
Kernel of_two_warps(std::uint32_t bytes, std::string_view writer, std::string_view fence,
                    std::string_view reader_fence, std::string_view reader) {
  std::string clear;
  for (std::uint32_t at = 0; at < bytes; at += 512) {
    clear += fmt::format("@%p1 st.shared.v4.u32 [%r4+{}], {{0, 0, 0, 0}};\n", at);
  }
  return {.body = fmt::format(R"(
    mov.u32 %r1, box;
    mov.u32 %r3, %tid.x;
    and.b32 %r8, %r3, 31;
    add.u32 %r4, %r3, 1;
    and.b32 %r4, %r4, 31;
    mad.lo.u32 %r4, %r4, 16, %r1;
    setp.lt.u32 %p1, %r3, 32;
    {}
    setp.eq.u32 %p2, %r3, 0;
    @%p2 st.shared.u32 [%r1+1040], 0;
    bar.sync 0;
    @!%p1 bra READER;
    {}
    {}
    @%p2 st.relaxed.cta.shared.u32 [%r1+1040], 1;
    bra END;
READER:
    nanosleep.u32 20;
    ld.relaxed.cta.shared.u32 %r5, [%r1+1040];
    {}
    {}
    mov.b64 %d1, {{%r5, %r7}};
    st.global.u64 [%out], %d1;
END:)",
                              clear, writer, fence, reader_fence, reader),
          .blocks = 1,
          .threads = 64};
}

std::function<bool(const Words&)> is_not(std::uint32_t value) {
  return [value](const Words& words) {
    return std::any_of(words.begin() + 32, words.end(), [value](std::uint64_t word) {
      return static_cast<std::uint32_t>(word) == 1 && word >> 32 != value;
    });
  };
}

constexpr std::string_view kLanesMeet = "bar.warp.sync -1;\nfence.acq_rel.cta;";
constexpr std::string_view kFence = "fence.acq_rel.cta;";

// Every lane stores 16 bytes that are all ones, as f16.
constexpr std::string_view kStoreOnes =
    "mov.u32 %r9, 0x3c003c00;\nst.shared.v4.u32 [%r4], {%r9, %r9, %r9, %r9};";
constexpr std::uint32_t kOnes = 0x3c003c00;

// Whatever one of the registers lacks of all ones is in %r7.
std::string all_of(std::uint32_t first, std::uint32_t count) {
  std::string text = fmt::format("mov.u32 %r7, %r{};\n", first);
  for (std::uint32_t i = 1; i < count; ++i) {
    text += fmt::format("and.b32 %r7, %r7, %r{};\n", first + i);
  }
  return text;
}

const std::string kLoadRows =
    "and.b32 %r6, %r8, 7;\nmad.lo.u32 %r6, %r6, 16, %r1;\n"
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6];";
const std::string kLoadFragment =
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
    "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%r1];\n" +
    all_of(10, 8);
const std::string kStoreRows =
    "mov.u32 %r9, 0x3c003c00;\n"
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r9, %r9, %r9, %r9};";
const std::string kStoreFragment =
    "mov.f32 %f1, 0f3F800000;\n"
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], "
    "{%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};";
const std::string kLoadWords =
    "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];\n" + all_of(10, 4);
constexpr std::uint32_t kOne = 0x3f800000;

}  // namespace

TEST_CASE("a message into another block's shared memory is seen late unless both fence") {
  CHECK(count_of(message("", "fence.acq_rel.cluster;"), delays(0.5), 400, is_weak) > 10);
  CHECK(count_of(message("fence.acq_rel.cta;", "fence.acq_rel.cluster;"), delays(0.5), 400,
                 is_weak) > 10);
  CHECK(count_of(message("fence.acq_rel.cluster;", ""), delays(0, 1), 400, is_weak) > 5);
  check_never(message("fence.acq_rel.cluster;", "fence.acq_rel.cluster;"), is_weak);
}

TEST_CASE("a cluster's barrier shows its blocks everything, unless it is relaxed") {
  const auto over = [](std::string_view arrive) {
    const std::string meet = fmt::format("{}\nbarrier.cluster.wait.acquire.aligned;\n", arrive);
    return of_two_blocks(
        "st.shared::cluster.u32 [%r3], 1;\nst.global.u32 [%base+1024], 1;\n" + meet,
        meet + "ld.shared.u32 %r4, [%r2];\nld.global.u32 %r5, [%base+1024];");
  };
  const auto is_old = [](const Words& words) { return words[1] != (std::uint64_t{1} << 32 | 1); };
  check_never(over("barrier.cluster.arrive.aligned;"), is_old);
  check_never(over("barrier.cluster.arrive.release.aligned;"), is_old);
  check_never(over("fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;"), is_old);
  CHECK(count_of(over("barrier.cluster.arrive.relaxed.aligned;"), delays(0.5), 400, is_old) > 50);
}

TEST_CASE("an atomic on another block's shared memory acts on what its thread has stored there") {
  const Kernel kernel = of_two_blocks(
      "st.shared::cluster.u32 [%r3], 5;\natom.shared::cluster.add.u32 %r6, [%r3], 1;\n" +
          std::string(kMeet),
      std::string(kMeet) + "ld.shared.u32 %r4, [%r2];\nmov.u32 %r5, 0;");
  check_never(kernel, [](const Words& words) { return words[1] != 6; });
}

TEST_CASE("what a thread has stored into another block's shared memory is there when it exits") {
  WeakLog log;
  Weakness weakness = delays(1);
  weakness.report = [&log](const WeakLog& more) {
    log.events.insert(log.events.end(), more.events.begin(), more.events.end());
  };
  Kernel kernel = of_two_blocks("st.shared::cluster.u32 [%r3], 1;\nret;", R"(
AGAIN:
    ld.volatile.shared.u32 %r4, [%r2];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra AGAIN;
    mov.u32 %r5, 0;)");
  CHECK(count_of(kernel, weakness, 50, [](const Words& words) { return words[1] != 1; }) == 0);
  int remote = 0;
  for (const WeakEvent& event : log.events) {
    const bool is_remote = event.space == WeakSpace::kShared && event.decision.block.x == 0 &&
                           event.until == WeakEnd::kExit;
    remote += is_remote ? 1 : 0;
  }
  CHECK(remote == 50);
}

TEST_CASE("an mbarrier shows who waits what was stored before the arrivals, unless it is relaxed") {
  const auto over = [](std::string_view arrive, std::string_view wait) {
    return of_two_blocks(
        fmt::format("st.shared::cluster.u32 [%r3], 1;\nst.global.u32 [%base+1024], 1;\n"
                    "{}.shared::cluster.b64 _, [%r21];",
                    arrive),
        fmt::format("WAIT:\n{}.shared::cta.b64 %p2, [%r20], 0;\n@!%p2 bra WAIT;\n"
                    "ld.shared.u32 %r4, [%r2];\nld.global.u32 %r5, [%base+1024];",
                    wait));
  };
  const auto is_old = [](const Words& words) { return words[1] != (std::uint64_t{1} << 32 | 1); };
  check_never(over("mbarrier.arrive.release.cluster", "mbarrier.try_wait.parity.acquire.cluster"),
              is_old);
  check_never(over("mbarrier.arrive.release.cluster", "mbarrier.test_wait.parity.acquire.cluster"),
              is_old);
  check_never(over("fence.acq_rel.cluster;\nmbarrier.arrive.relaxed.cluster",
                   "mbarrier.try_wait.parity.acquire.cluster"),
              is_old);
  CHECK(
      count_of(over("mbarrier.arrive.relaxed.cluster", "mbarrier.try_wait.parity.acquire.cluster"),
               delays(0.5), 400, is_old) > 20);
  CHECK(
      count_of(over("mbarrier.arrive.release.cluster", "mbarrier.try_wait.parity.relaxed.cluster"),
               delays(0, 1), 400, is_old) > 5);
}

TEST_CASE("an mbarrier of a block shows nothing of who does not arrive there") {
  const auto over = [](std::string_view writer) {
    return Kernel{.body = fmt::format(R"(
    mov.u32 %r1, box;
    mov.u32 %r20, barrier;
    mov.u32 %r3, %tid.x;
    st.shared.u32 [%r1], 0;
    mbarrier.init.shared.b64 [%r20], 1;
    bar.sync 0;
    setp.ge.u32 %p1, %r3, 32;
    @%p1 bra READER;
    {}
    bra END;
READER:
    mov.u32 %r6, 0;
WAIT:
    add.u32 %r6, %r6, 1;
    mbarrier.test_wait.parity.shared.b64 %p2, [%r20], 0;
    @%p2 bra READ;
    setp.lt.u32 %p3, %r6, 100;
    @%p3 bra WAIT;
    mov.u32 %r7, 1;
    bra STORE;
READ:
    ld.shared.u32 %r7, [%r1];
STORE:
    cvt.u64.u32 %d1, %r7;
    st.global.u64 [%out], %d1;
END:)",
                                      writer),
                  .blocks = 1,
                  .threads = 33};
  };
  const auto is_old = [](const Words& words) { return words[32] == 0; };
  constexpr std::string_view kArrive = "mbarrier.arrive.shared.b64 _, [%r20];";
  const std::string store = "setp.eq.u32 %p4, %r3, 0;\n@%p4 st.shared.u32 [%r1], 1;\n";
  check_never(over(store + "@%p4 " + std::string(kArrive)), is_old);
  // Another lane arrives: what this one has stored is not ordered before it.
  const std::string other = "setp.eq.u32 %p5, %r3, 5;\n";
  check_never(over(store + other + "bar.warp.sync -1;\n@%p5 " + std::string(kArrive)), is_old);
  CHECK(count_of(over(store + other + "@%p5 " + std::string(kArrive)), delays(0.5), 400, is_old) >
        20);
}

TEST_CASE("a matrix is loaded as other lanes have stored it once they were waited for") {
  for (const std::string& load : {kLoadRows, kLoadFragment}) {
    CHECK(count_of(of_two_warps(512, kStoreOnes, "", kFence, load), delays(0.5), 400,
                   is_not(kOnes)) > 20);
    check_never(of_two_warps(512, kStoreOnes, kLanesMeet, kFence, load), is_not(kOnes));
  }
}

TEST_CASE("a warp's own lanes have to meet before they load what they have stored as a matrix") {
  const auto kernel = [](const std::string& load, std::string_view between) {
    return of_two_warps(512, fmt::format("{}\n{}\n{}", kStoreOnes, between, load), "", "",
                        "mov.u32 %r7, 0;");
  };
  // Warp 0 tells what it has loaded.
  const auto told = [&](const std::string& load, std::string_view between) {
    Kernel both = kernel(load, between);
    const std::size_t at = both.body.find("@%p2 st.relaxed");
    both.body.insert(at, "mov.b64 %d1, {%r3, %r7};\nst.global.u64 [%out], %d1;\n");
    return both;
  };
  const auto is_old = [](const Words& words) {
    return std::any_of(words.begin(), words.begin() + 32,
                       [](std::uint64_t word) { return word >> 32 != kOnes; });
  };
  for (const std::string& load : {kLoadRows, kLoadFragment}) {
    check_never(told(load, "bar.warp.sync -1;"), is_old);
    CHECK(count_of(told(load, ""), delays(0.5), 400, is_old) > 20);
  }
}

TEST_CASE(
    "a matrix that was stored is seen once its warp was waited for, and not stale after that") {
  for (const auto& [store, value] : {std::pair(kStoreRows, kOnes), {kStoreFragment, kOne}}) {
    const std::uint32_t bytes = value == kOne ? 1024 : 512;
    check_never(of_two_warps(bytes, store, kLanesMeet, kFence, kLoadWords), is_not(value));
    CHECK(count_of(of_two_warps(bytes, store, kLanesMeet, "", kLoadWords), delays(0, 1), 400,
                   is_not(value)) > 5);
  }
}

TEST_CASE("a matrix that was stored is not undone by what was stored there before it") {
  for (const auto& [store, value] : {std::pair(kStoreRows, kOnes), {kStoreFragment, kOne}}) {
    const std::string older = "mov.u32 %r9, 7;\nst.shared.v4.u32 [%r4], {%r9, %r9, %r9, %r9};\n";
    const std::uint32_t bytes = value == kOne ? 1024 : 512;
    check_never(
        of_two_warps(bytes, older + "bar.warp.sync -1;\n" + store, kLanesMeet, kFence, kLoadWords),
        is_not(value));
  }
}
