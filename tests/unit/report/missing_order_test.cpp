#include "report/missing_order.h"

#include <set>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "tests/unit/report/missing_order_sample.h"
#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

using Sample = samples::MissingOrderSample;

TEST_CASE("blocks without synchronisation are named") {
  Sample sample;
  const std::string remedy =
      ", and no __syncthreads() orders blocks: the second access needs a launch of its own, or a "
      "barrier of the whole grid before it (cooperative launch)";
  CHECK(sample.text() == "no synchronisation between block 0 and block 1" + remedy);
  sample.second.block = {1, 2, 0};
  CHECK(sample.text() == "no synchronisation between block 0 and block [1,2,0]" + remedy);
}

TEST_CASE(
    "an array that is read and then written in place wants a second one, blocks of a cluster a "
    "barrier") {
  Sample sample;
  std::swap(sample.sites[0].frames, sample.sites[1].frames);
  CHECK(sample.text().find("must be written to a second array") != std::string::npos);
  sample.race.needed_scope = wire::Scope::kCluster;
  CHECK(sample.text().find("cluster.sync() is missing") != std::string::npos);
}

TEST_CASE(
    "volatile steps in shared memory want a barrier of the warp or block, flags, blocks and global "
    "memory atomics") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kVolatileFlag;
  CHECK(sample.text().find("cuda::atomic_ref") != std::string::npos);
  sample.race.kind = detector::RaceKind::kIntraBlock;
  CHECK(sample.text().find("cuda::atomic_ref") != std::string::npos);
  sample.race.kind = detector::RaceKind::kIntraWarp;  // as a sum's last steps, in no loop
  CHECK(sample.text().find("__syncwarp() is missing") != std::string::npos);
  sample.sites[1].loops = {2};
  CHECK(sample.text().find("cuda::atomic_ref") != std::string::npos);
  sample.sites[1].loops.clear();
  sample.race.second.space = wire::AddressSpace::kShared;
  sample.race.kind = detector::RaceKind::kIntraWarp;
  CHECK(sample.text().find("__syncwarp() is missing") != std::string::npos);
  sample.race.kind = detector::RaceKind::kIntraBlock;
  CHECK(sample.text().find("__syncthreads() is missing") != std::string::npos);
  LoopRounds rounds;
  rounds.is_uneven = true;
  CHECK_THAT(sample.text(rounds), Catch::Contains("cuda::atomic_ref"));
  sample.sites[1].info.poll = true;
  CHECK(sample.text().find("cuda::atomic_ref") != std::string::npos);
  sample.sites[1].info.poll = false;
  sample.sites[1].info.numbered = true;
  CHECK(sample.text().find("__syncthreads() is missing") != std::string::npos);
  sample.sites[1].loops = {2};
  CHECK(sample.text().find("cuda::atomic_ref") != std::string::npos);
  sample.sites[1].loops.clear();
  sample.race.second.site = sample.race.first.site;
  CHECK(sample.text().find("cuda::atomic_ref") != std::string::npos);
}

TEST_CASE("updates in place and plain accesses beside atomics want an atomic") {
  Sample sample;
  sample.sites[0].update = 1;
  CHECK(sample.text().find("atomic operation") == std::string::npos);
  sample.sites[1].update = 1;
  for (const auto kind : {detector::RaceKind::kInterBlock, detector::RaceKind::kIntraBlock,
                          detector::RaceKind::kIntraWarp}) {
    sample.race.kind = kind;
    CHECK_THAT(sample.text(), Catch::Contains("read, change and write back one place: an atomic "
                                              "operation is needed for the whole update, such as "
                                              "atomicAdd()"));
  }
  Sample beside;
  beside.sites[0].info.operation = wire::Operation::kAtomic;
  beside.first.operation = AccessOperation::kAtomic;
  CHECK(beside.text() ==
        "the read at add.cu:14 beside the atomic at add.cu:12 must be atomic as well");
  beside.first.size = 2 * beside.second.size;  // of two sizes they would race again
  CHECK_THAT(beside.text(), Catch::EndsWith("must be atomic as well, and of the same size"));
}

TEST_CASE("a plain access beside one that may come at any time wants no order, but to be atomic") {
  Sample sample;
  sample.sites[1].info.order = wire::MemoryOrder::kRelaxed;
  CHECK(sample.text() ==
        "the write at add.cu:12 beside the atomic read at add.cu:14 must be atomic as well");
  sample.sites[0].info.order = wire::MemoryOrder::kRelaxed;
  CHECK_THAT(sample.text(), Catch::Contains("no synchronisation between block 0 and block 1"));
  sample.sites[0].info.order = wire::MemoryOrder::kWeak;
  sample.sites[1].info.order = wire::MemoryOrder::kVolatile;  // as the cells of a stencil may be
  CHECK_THAT(sample.text(), Catch::Contains("no synchronisation between block 0 and block 1"));
  sample.sites[1].loops = {3};
  CHECK(sample.text() ==
        "the write at add.cu:12 beside the volatile read at add.cu:14: both must be atomic "
        "(cuda::atomic_ref)");
  sample.sites[1].loops.clear();
  sample.sites[1].in_entry = false;  // its caller may wait in a loop
  CHECK_THAT(sample.text(), Catch::Contains("both must be atomic"));
  sample.race.kind = detector::RaceKind::kIntraBlock;
  CHECK_THAT(sample.text(), Catch::StartsWith("__syncthreads() is missing"));
}

TEST_CASE("of an update beside an atomic the part that is none is named, not the atomic") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites[0].info.operation = wire::Operation::kAtomic;
  sample.first.operation = AccessOperation::kAtomic;
  sample.sites[1].update = 1;
  CHECK(sample.text() ==
        "the read at add.cu:14 is part of an update that is not atomic, beside the atomic at "
        "add.cu:12: the whole update must be an atomic operation, such as atomicAdd()");
}

TEST_CASE(
    "within a block a barrier orders a read after an atomic, and not one that decides about it") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites[0].info.operation = wire::Operation::kAtomic;
  sample.first.operation = AccessOperation::kAtomic;
  CHECK(sample.text().find("__syncthreads() is missing") != std::string::npos);
  std::swap(sample.sites[0].frames, sample.sites[1].frames);
  CHECK(sample.text().find("must be atomic as well") != std::string::npos);
}

TEST_CASE("a Python kernel's barriers and fences have Python's names") {
  Sample sample;
  sample.second.place.file = "kernels.py";
  sample.race.kind = detector::RaceKind::kIntraBlock;
  CHECK(sample.text().find("cuda.syncthreads() is missing") != std::string::npos);
  sample.race.kind = detector::RaceKind::kIntraWarp;
  CHECK(sample.text() ==
        "cuda.syncwarp() is missing between the two accesses (two lanes of one warp)");
  sample.race.missing = detector::MissingOrder::kAcquireFenceMissing;
  CHECK(sample.text().find("cuda.threadfence() is missing") != std::string::npos);
}

TEST_CASE(
    "numba's kernels are known by their names where they have no lines, and Triton's by theirs") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.second.kernel = "__main__::main::_3clocals_3e::add(int)";
  CHECK(sample.text().find("cuda.syncthreads() is missing") != std::string::npos);
  sample.race.kind = detector::RaceKind::kInterKernel;
  sample.second.stream = sample.first.stream + 1;
  CHECK(sample.text().find("(event.record(), event.wait())") != std::string::npos);

  sample.second.kernel = "add_kernel";
  CHECK(sample.text().find("(cudaEventRecord(), cudaStreamWaitEvent())") != std::string::npos);
  sample.second.place.file = "model.py";
  sample.race.kind = detector::RaceKind::kIntraBlock;
  CHECK(sample.text().find("tl.debug_barrier() is missing") != std::string::npos);
  sample.race.missing = detector::MissingOrder::kAcquireFenceMissing;
  CHECK(sample.text().find("an atomic with sem=\"acq_rel\" is missing between") !=
        std::string::npos);
  sample.race.missing = detector::MissingOrder::kProxyFenceMissing;
  CHECK(sample.text() ==
        "fence.proxy.async is missing, which Triton's compiler has to put there: versions from "
        "3.7 on do");
}

TEST_CASE("a barrier's place is named: in a loop, and where only some threads come by") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  const auto text_of = [&](const LoopRounds& rounds) {
    return missing_order(sample.race, sample.sites, sample.first, sample.second, rounds);
  };
  CHECK(text_of({.within = true, .across = true}) ==
        "__syncthreads() is missing between the two accesses, and before the next round of their "
        "loop (warp 0 and warp 0 of one block)");
  sample.sites[1].is_divergent = true;
  CHECK(text_of({.within = false, .across = true}) ==
        "__syncthreads() is missing before the next round of their loop, where all threads of the "
        "block come by (warp 0 and warp 0 of one block)");
  sample.race.kind = detector::RaceKind::kIntraWarp;
  CHECK(text_of({}) ==
        "__syncwarp() is missing between the two accesses, where all lanes of the warp come by "
        "(two lanes of one warp)");
}

TEST_CASE("what is published is named by what it is, and the line that publishes it") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kReleaseFenceMissing;
  CHECK(
      sample.text() ==
      "the write is published without a fence: __threadfence() is missing before the flag or lock "
      "is written");
  sample.first.operation = AccessOperation::kRead;
  sample.race.about = wire::SiteId{1};
  CHECK(sample.text() ==
        "the read is published without a fence: __threadfence() is missing before the flag or lock "
        "is written at /src/add.cu:14");
}

TEST_CASE("warps of one block miss __syncthreads(), lanes of one warp __syncwarp()") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.second.warp = 2;
  CHECK(sample.text() ==
        "__syncthreads() is missing between the two accesses (warp 0 and warp 2 of one block)");
  sample.race.kind = detector::RaceKind::kIntraWarp;
  CHECK(sample.text() ==
        "__syncwarp() is missing between the two accesses (two lanes of one warp)");
}

TEST_CASE("lanes of one instruction cannot be helped by a warp barrier") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraWarp;
  sample.race.second.site = sample.race.first.site;
  CHECK(sample.text() ==
        "two lanes of one warp store to one place by one instruction, and no barrier can stand "
        "between: one thread alone should store it, or each needs a place of its own");
}

TEST_CASE("of one instruction in a loop it is said that the two may be of two rounds") {
  Sample sample;
  sample.race.second.site = sample.race.first.site;
  const auto text_of = [&](detector::RaceKind kind, const LoopRounds& rounds) {
    sample.race.kind = kind;
    return missing_order(sample.race, sample.sites, sample.first, sample.second, rounds);
  };
  const LoopRounds across{.within = false, .across = true};
  CHECK(
      text_of(detector::RaceKind::kIntraWarp, across) ==
      "two lanes of one warp store to one place by one instruction: if in different rounds of "
      "their loop, __syncwarp() is missing before the next round; if in one round, no barrier can "
      "stand between, and one thread alone should store it, or each needs a place of its own");
  CHECK_THAT(text_of(detector::RaceKind::kIntraBlock, across),
             Catch::Contains("of their loop, __syncthreads() is missing before the next round;"));
  const LoopRounds uneven{.within = false, .across = true, .is_uneven = true};
  CHECK_THAT(text_of(detector::RaceKind::kIntraWarp, uneven), Catch::Contains("__syncwarp()"));
  CHECK_THAT(text_of(detector::RaceKind::kIntraBlock, uneven),
             Catch::Contains("by one instruction, and no barrier can stand between"));
}

TEST_CASE("no barrier of the block is advised in a loop that some threads may leave first") {
  Sample sample;
  sample.second.warp = 2;
  const auto text_of = [&](detector::RaceKind kind, const LoopRounds& rounds) {
    sample.race.kind = kind;
    return missing_order(sample.race, sample.sites, sample.first, sample.second, rounds);
  };
  const std::string why =
      "warp 0 and warp 2 of one block are in a loop that some threads may leave before others, so "
      "no __syncthreads() can stand in it: ";
  CHECK(text_of(detector::RaceKind::kIntraBlock,
                {.within = true, .across = true, .is_uneven = true}) ==
        why +
            "the two accesses must be atomic, or stand in a loop each, with the barrier between "
            "the loops");
  CHECK(text_of(detector::RaceKind::kIntraBlock,
                {.within = false, .across = true, .is_uneven = true}) ==
        why + "the two accesses must be atomic, or each warp needs a place of its own");
  CHECK_THAT(
      text_of(detector::RaceKind::kIntraWarp, {.within = true, .across = true, .is_uneven = true}),
      Catch::StartsWith("__syncwarp() is missing between the two accesses, and before"));
}

TEST_CASE("a scope that is too narrow is named with its line, both if both fences are") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kScopeTooNarrow;
  sample.race.needed_scope = wire::Scope::kGpu;
  const std::string needed = "device scope (.gpu), as __threadfence() has, is needed";
  CHECK(sample.text() == "the fence's scope is too narrow: " + needed);
  sample.add_fence(wire::Scope::kCta);
  sample.add_fence(wire::Scope::kGpu);
  sample.race.second.last_sync = detector::LastSync::kKnown;
  sample.race.second.last_sync_site = wire::SiteId{3};
  CHECK(sample.text() == "the fence's scope is too narrow: " + needed);
  sample.race.about = wire::SiteId{2};
  CHECK(sample.text() ==
        "the fence at /src/add.cu:22 has block scope (.cta), which is too narrow: " + needed);
  sample.add_fence(wire::Scope::kCluster);
  sample.race.second.last_sync_site = wire::SiteId{4};
  CHECK(sample.text() ==
        "the scope of two fences is too narrow (block scope (.cta) at /src/add.cu:22 and cluster "
        "scope (.cluster) at /src/add.cu:24): " +
            needed + " in both");
  sample.sites[1].info.scope = wire::Scope::kCta;
  sample.race.about = wire::SiteId{1};
  CHECK(sample.text() ==
        "the flag's or lock's read at /src/add.cu:14 has block scope (.cta), which is too narrow: "
        "device scope (.gpu) is needed");
}

TEST_CASE("the wait that an asynchronous copy lacks is named by the copy's kind") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAsyncWaitMissing;
  CHECK(sample.text() == "the asynchronous copy is not waited for");
  for (const auto& [instruction, wait] :
       {std::pair("cp.async.ca.shared.global",
                  ": __pipeline_wait_prior() (cp.async.wait_group), or "),
        std::pair("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
                  ": a wait for the mbarrier that it completes on is missing before the access"),
        std::pair("cp.async.bulk.global.shared::cta.bulk_group",
                  ": cp.async.bulk.wait_group is missing before the access")}) {
    sample.first.instruction = instruction;
    CHECK_THAT(sample.text(), Catch::Contains(wait));
  }
}

TEST_CASE("who waits for another phase than the copy's reads what was there before, or too early") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAsyncWaitMissing;
  sample.first.instruction = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  sample.second.last_sync = "mbarrier.test_wait.parity.shared::cta.b64";
  sample.second.last_sync_place = {.function = "add(int*)", .file = "add.cu", .line = 13};
  sample.second.warp = 4;
  CHECK(sample.text() ==
        "the asynchronous copy is not waited for: the wait at add.cu:13 is for another phase or "
        "mbarrier. Either the read is of what was there before, and a wait before the copy is "
        "missing, for an mbarrier at which warp 4 arrives once its read is over; or it is of the "
        "copy, and a wait for the mbarrier that the copy completes on is missing before the read");
  sample.second.last_sync = "bar.sync";
  CHECK_THAT(sample.text(), Catch::EndsWith("completes on is missing before the access"));
}

TEST_CASE("a wait for an mbarrier at which threads arrive and their copies do not") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAsyncWaitMissing;
  sample.sites[0].info.asynchrony = wire::Asynchrony::kThreadGroup;
  sample.first.instruction = "cp.async.ca.shared.global";
  sample.second.last_sync = "mbarrier.test_wait.parity.shared::cta.b64";
  sample.second.last_sync_place = {.function = "add(int*)", .file = "add.cu", .line = 13};
  CHECK(sample.text() ==
        "the asynchronous copy is not waited for: the wait at add.cu:13 is for an arrival that the "
        "copy does not hold up. __pipeline_arrive_on() (cp.async.mbarrier.arrive) is missing, or "
        "__pipeline_wait_prior() (cp.async.wait_group) before the arrival");
  ptx::Site arrival =
      samples::site(static_cast<std::uint32_t>(sample.sites.size()), wire::Operation::kAsyncArrive,
                    {{"_Z3addPi", "/src/add.cu", 13, 5}});
  arrival.function = sample.sites[0].function;
  sample.sites.push_back(arrival);
  CHECK_THAT(sample.text(),
             Catch::Contains("the wait at add.cu:13 is for another phase or mbarrier"));
}

TEST_CASE("threads that store to one place by one asynchronous copy cannot wait for each other") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAsyncWaitMissing;
  sample.race.kind = detector::RaceKind::kIntraWarp;
  sample.race.second.site = sample.race.first.site;
  sample.sites[0].info.asynchrony = wire::Asynchrony::kBulkGroup;
  sample.second = sample.first;
  sample.second.thread = {4, 0, 0};
  CHECK_THAT(sample.text(), Catch::StartsWith("two lanes of one warp store to one place by one"));
  sample.sites[0].loops = {3};  // then it may be the copy of an earlier round
  CHECK_THAT(sample.text(), Catch::StartsWith("the asynchronous copy is not waited for"));
  sample.sites[0].loops.clear();
  sample.second.thread = sample.first.thread;
  CHECK_THAT(sample.text(), Catch::StartsWith("the asynchronous copy is not waited for"));
}

TEST_CASE(
    "a launch that waits in a loop for another one may lack a fence, and no order of streams") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kInterKernel;
  sample.race.first.site = wire::SiteId{1};
  sample.race.second.site = wire::SiteId{2};
  sample.second.launch = 2;
  sample.second.stream = 1;
  sample.sites.push_back(
      samples::site(2, wire::Operation::kRead, {{"_Z3addPi", "/src/add.cu", 20, 5}}));
  sample.sites[1].info.poll = true;
  CHECK_THAT(sample.text(), Catch::EndsWith("cudaStreamWaitEvent())"));
  sample.sites[1].loops = {3};
  CHECK_THAT(sample.text(),
             Catch::EndsWith("cudaStreamWaitEvent()); or, if launch 2 waits at /src/add.cu:14 for "
                             "what launch 1 stores then, __threadfence() is missing before that "
                             "store"));
  sample.sites[1].function = "_Z5otherPi";
  CHECK_THAT(sample.text(), Catch::EndsWith("cudaStreamWaitEvent())"));
}

TEST_CASE("before a copy overwrites shared memory its readers are waited for, never the copy") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.race.second.space = wire::AddressSpace::kShared;
  std::swap(sample.first, sample.second);
  sample.second.operation = AccessOperation::kCopy;
  sample.sites[1].info.operation = wire::Operation::kTensorCopy;
  sample.sites[1].info.asynchrony = wire::Asynchrony::kMbarrier;
  const std::string remedy =
      "__syncthreads() is missing between the two accesses (warp 0 and warp 0 of one block), or a "
      "wait before the copy for an mbarrier at which warp 0 arrives once its read is over";
  CHECK(sample.text() == remedy);
  sample.race.missing = detector::MissingOrder::kArrivalDoesNotWait;
  sample.add_fence(wire::Scope::kCta);
  sample.race.about = wire::SiteId{2};
  CHECK_THAT(sample.text(), Catch::StartsWith("the arrival at /src/add.cu:22 does not wait"));
  sample.sites[2].instruction = "mbarrier.arrive.expect_tx.shared::cta.b64";  // of the copy itself
  CHECK(sample.text() == remedy);
  sample.sites[1].info.asynchrony = wire::Asynchrony::kNone;
  CHECK_THAT(sample.text(), Catch::StartsWith("the arrival at /src/add.cu:22 does not wait"));
}

TEST_CASE("a flag of two sizes has the fences and hands nothing on") {
  Sample sample;
  ptx::Site store = sample.sites[0];
  ptx::Site poll = sample.sites[1];
  store.info.element_bytes = 2;
  poll.info.element_bytes = 4;
  const AwaitedFlag flag{.store = &store, .poll = &poll};
  const auto text = [&] {
    return missing_order(sample.race, sample.sites, sample.first, sample.second, {}, flag);
  };
  CHECK(text() ==
        "the flag that is stored at /src/add.cu:12 and awaited at /src/add.cu:14 in different "
        "sizes hands nothing on: one size is needed");
  poll.info.element_bytes = 2;
  CHECK_THAT(text(), Catch::StartsWith("__threadfence() is missing in two places"));
}

TEST_CASE("an atomic's own scope is named") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAtomicScopeTooNarrow;
  sample.race.needed_scope = wire::Scope::kSys;
  sample.sites[0].info.order = wire::MemoryOrder::kRelaxed;
  sample.sites[0].info.scope = wire::Scope::kGpu;
  CHECK(sample.text() ==
        "the atomic's scope, device scope (.gpu), is too narrow: system scope (.sys) is needed");
}

TEST_CASE("launches without an order are named by number") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kInterKernel;
  sample.second.launch = 2;
  sample.second.stream = 1;
  CHECK_THAT(sample.text(),
             Catch::StartsWith("no stream order, event or synchronisation between launch 1 and "
                               "launch 2: both belong on one stream, or"));
  sample.second.stream = sample.first.stream;  // in which it would be their order
  CHECK(sample.text() ==
        "launch 1 and launch 2 are nodes of a graph with no way from one to the other: a "
        "dependency between them is missing");
}

TEST_CASE("a barrier after an asynchronous copy belongs behind the wait for it") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites[0].info.asynchrony = wire::Asynchrony::kThreadGroup;
  CHECK(sample.text() ==
        "__syncthreads() is missing between the wait for the asynchronous copy and the other "
        "thread's access (warp 0 and warp 0 of one block)");
}

TEST_CASE("who comes after a release must come before it; after a barrier another one is missing") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAfterRelease;
  sample.add_fence(wire::Scope::kGpu);
  ptx::Site& release = sample.sites[2];
  sample.race.about = wire::SiteId{2};
  CHECK(sample.text() ==
        "the write comes after the release at /src/add.cu:22 that the other thread saw: it must "
        "come before");
  const ptx::SourceFrame call{"sync", "/usr/local/cuda/include/cooperative_groups/details/sync.h",
                              9};
  release.frames.insert(release.frames.begin(), call);
  CHECK(sample.text() ==
        "the barrier at /src/add.cu:22 orders what comes before it, and the write comes after: one "
        "more is missing between the two accesses");
}

TEST_CASE("a flag that is stored without a fence and awaited with one wants it before the store") {
  Sample sample;
  wire::SiteInfo& read = sample.sites[1].info;
  read.poll = true;
  read.order = wire::MemoryOrder::kVolatile;
  sample.sites[0].info.element_count = 1;
  CHECK(sample.text().find("waits in a loop") == std::string::npos);
  sample.sites[1].loops = {3};
  CHECK(sample.text() ==
        "a thread waits in a loop for the value that is stored at /src/add.cu:12: __threadfence() "
        "is missing directly before it, after the writes that the flag announces");
  sample.sites[0].info.flag_store = true;
  CHECK(sample.text().find("waits in a loop") == std::string::npos);
}

TEST_CASE("bit fields of one word want words of their own or atomics, no barrier") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraWarp;
  sample.sites[1].update = 1;
  sample.race.second.size = 4;
  sample.race.first.address = sample.race.second.address + 1;
  sample.race.first.size = 1;
  CHECK_THAT(sample.text(), Catch::Contains("as is done for bit fields: each needs a word of its"));
  sample.race.first.address = sample.race.second.address + 4;
  CHECK_THAT(sample.text(), Catch::StartsWith("__syncwarp() is missing"));
  sample.race.first.address = sample.race.second.address;
  sample.race.first.size = 4;
  CHECK_THAT(sample.text(), Catch::StartsWith("__syncwarp() is missing"));
}

TEST_CASE("no barrier stands within a statement") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites[1].frames = sample.sites[0].frames;
  CHECK(sample.text() ==
        "__syncthreads() is missing between the two accesses of one statement, which must become "
        "two (warp 0 and warp 0 of one block)");
  LoopRounds rounds;
  rounds.across = true;
  rounds.within = false;  // behind the statement
  CHECK_THAT(sample.text(rounds), Catch::Contains("missing before the next round of their loop"));
  sample.sites[1].frames.push_back({"_Z3addPi", "/src/add.cu", 30, 5});  // of another call
  CHECK_THAT(sample.text(),
             Catch::StartsWith("__syncthreads() is missing between the two accesses ("));
}

TEST_CASE("what an unrolled loop has several times is one statement") {
  Sample sample;
  sample.sites[1].frames = sample.sites[0].frames;
  CHECK_THAT(sample.text(), Catch::Contains("must be written to a second array"));
  sample.first.operation = sample.second.operation = AccessOperation::kWrite;
  sample.sites[1].info.operation = wire::Operation::kWrite;
  CHECK(sample.text() ==
        "block 0 and block 1 store to one place by one statement: one thread alone should store "
        "it, or each needs a place of its own");
  ++sample.sites[1].frames.front().column;
  CHECK_THAT(sample.text(), Catch::StartsWith("no synchronisation between block 0 and block 1"));
}

TEST_CASE("the line of a function whose callers are lost says nothing of the order in the kernel") {
  Sample sample;
  sample.sites[1].frames.front().line = 9;  // the read
  CHECK_THAT(sample.text(), Catch::Contains("must be written to a second array"));
  sample.sites[0].frames.push_back({"_Z3addPi", "/src/add.cu", 30, 5});
  CHECK_THAT(sample.text(), Catch::Contains("needs a launch of its own"));
}

TEST_CASE("each thread waits for its own copies: those of others want a barrier as well") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAsyncWaitMissing;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites[0].info.asynchrony = wire::Asynchrony::kThreadGroup;
  sample.first.instruction = "cp.async.ca.shared.global";
  CHECK_THAT(sample.text(), Catch::Contains("by the thread that copies and then __syncthreads()"));
  sample.second.last_sync = "cp.async.wait_group";
  sample.second.last_sync_place = {.function = "", .file = "add.cu", .line = 13};
  CHECK(sample.text() ==
        "the wait at add.cu:13 is for each thread's own copies: __syncthreads() is missing between "
        "the wait for the asynchronous copy and the other thread's access");
  sample.race.kind = detector::RaceKind::kIntraWarp;
  CHECK_THAT(sample.text(), Catch::Contains("__syncwarp() is missing between the wait"));
  sample.second.block = sample.first.block;
  CHECK_THAT(sample.text(), Catch::StartsWith("the asynchronous copy is not waited for: "
                                              "__pipeline_wait_prior() (cp.async.wait_group), or"));
}

TEST_CASE("an arrival at a cuda::barrier that nobody waits for is named") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAfterRelease;
  sample.add_fence(wire::Scope::kGpu);
  ptx::Site& arrival = sample.sites[2];
  arrival.frames.insert(arrival.frames.begin(),
                        {"_ZN4cuda7barrier6arriveEl",
                         "/usr/local/cuda/include/cccl/cuda/std/__barrier/barrier.h", 179});
  sample.race.second.last_sync = detector::LastSync::kKnown;
  sample.race.second.last_sync_site = wire::SiteId{2};
  CHECK(sample.text() ==
        "the arrival at /src/add.cu:22 does not wait: a wait is missing before the access that "
        "follows");
  arrival.frames.front().function = "_ZN4cuda7barrier15arrive_and_waitEl";
  CHECK(sample.text().find("does not wait") == std::string::npos);
}

TEST_CASE("every verdict has its own sentence") {
  Sample sample;
  std::set<std::string> texts;
  for (auto missing = detector::MissingOrder::kNoSynchronisation;
       missing <= detector::MissingOrder::kSurfaceBlocks;
       missing = static_cast<detector::MissingOrder>(static_cast<int>(missing) + 1)) {
    sample.race.missing = missing;
    CHECK(texts.insert(sample.text()).second);
  }
}

}  // namespace
}  // namespace barracuda::report
