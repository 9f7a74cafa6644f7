#include "ptx/opcode.h"

#include <algorithm>
#include <array>
#include <sstream>

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

using wire::Asynchrony;
using wire::MemoryOrder;
using wire::Operation;
using wire::Proxy;
using wire::Scope;
using enum OpcodeClass;

Effect effect_of(std::string_view text) {
  return classify(parse_instruction(text));
}

bool is_address_computation(Opcode opcode) {
  using enum Opcode;
  constexpr auto kOpcodes = std::to_array<Opcode>(
      {kCvta, kIsspacep, kMapa, kGetctarank, kAlloca, kPrefetch, kApplypriority});
  return std::ranges::find(kOpcodes, opcode) != kOpcodes.end();
}

}  // namespace

TEST_CASE("every form of the corpus is classified, or named as not covered") {
  std::istringstream rows(read_text(BARRACUDA_TEST_DATA "/opcode_forms.tsv"));
  std::string row;
  std::getline(rows, row);
  int forms = 0;
  while (std::getline(rows, row)) {
    const std::string form = row.substr(2);
    Instruction instruction;
    instruction.set_mnemonic(form);
    const Effect effect = classify(instruction);
    CAPTURE(form);
    CHECK((effect.opcode_class != kUnknown || effect.not_covered));
    const bool touches_memory = row[0] == 'a' && !is_address_computation(instruction.opcode);
    const bool does_nothing = effect.opcode_class == kArithmetic ||
                              effect.opcode_class == kNoEffect ||
                              effect.opcode_class == kWarpCollective;
    CHECK((!touches_memory || !does_nothing || effect.not_covered));
    CHECK((row[0] != 'd' || effect.opcode_class == kArithmetic));
    ++forms;
  }
  CHECK(forms == 790);
}

TEST_CASE("loads and stores: space, type, elements, order, operands") {
  const Effect plain = effect_of("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];");
  CHECK(plain.opcode_class == kLoad);
  CHECK(plain.space == StateSpace::kGlobal);
  CHECK(plain.type == ScalarType::kF32);
  CHECK(plain.elements == 4);
  CHECK(plain.order == MemoryOrder::kWeak);
  CHECK(plain.address_operand == 1);
  CHECK(plain.value_operand == -1);
  const Effect store = effect_of("st.u8 [%rd1], %r1;");
  CHECK(store.opcode_class == kStore);
  CHECK(store.space == StateSpace::kGeneric);
  CHECK(store.address_operand == 0);
  CHECK(store.value_operand == 1);
  const Effect shuffled = effect_of("ld.u32.gpu.acquire.global %r1, [%rd1];");
  CHECK(shuffled.order == MemoryOrder::kAcquire);
  CHECK(shuffled.scope == Scope::kGpu);
  CHECK(shuffled.type == ScalarType::kU32);
  const Effect volatile_load = effect_of("ld.volatile.shared.u32 %r1, [%r2];");
  CHECK(volatile_load.order == MemoryOrder::kVolatile);
  CHECK(volatile_load.scope == Scope::kSys);
  CHECK(volatile_load.space == StateSpace::kShared);
  CHECK_FALSE(volatile_load.shared_cluster);
  CHECK(effect_of("ld.shared::cluster.u32 %r1, [%r2];").shared_cluster);
  CHECK(effect_of("ld.mmio.relaxed.sys.global.u32 %r1, [%rd2];").order == MemoryOrder::kRelaxed);
  CHECK(effect_of("ld.global.nc.L1::no_allocate.L2::128B.u32 %r1, [%rd2];").proxy ==
        Proxy::kReadOnly);
  CHECK(effect_of("ld.param::func.b64 %rd1, [p];").space == StateSpace::kParam);
  CHECK(effect_of("st.release.cta.b32 [%rd1], 1;").order == MemoryOrder::kRelease);
  CHECK(effect_of("ld.const.f64 %fd1, [c];").space == StateSpace::kConst);
}

TEST_CASE("atomics are relaxed.gpu unless they say otherwise") {
  const Effect plain = effect_of("atom.global.add.u32 %r1, [%rd1], 1;");
  CHECK(plain.opcode_class == kAtomic);
  CHECK(plain.order == MemoryOrder::kRelaxed);
  CHECK(plain.scope == Scope::kGpu);
  CHECK(plain.address_operand == 1);
  CHECK(plain.value_operand == 2);
  CHECK_FALSE(plain.is_cas);
  const Effect cas = effect_of("atom.cas.acq_rel.sys.b64 _, [%rd1], 0, 1;");
  CHECK(cas.is_cas);
  CHECK(cas.order == MemoryOrder::kAcqRel);
  CHECK(cas.scope == Scope::kSys);
  CHECK(cas.space == StateSpace::kGeneric);
  const Effect block = effect_of("atom.shared::cta.cta.exch.b32 %r1, [%r2], 1;");
  CHECK(block.space == StateSpace::kShared);
  CHECK(block.scope == Scope::kCta);
  const Effect reduction = effect_of("red.and.release.cluster.b32 [%rd1], %r1;");
  CHECK(reduction.opcode_class == kReduction);
  CHECK(reduction.address_operand == 0);
  CHECK(reduction.value_operand == 1);
  CHECK(reduction.scope == Scope::kCluster);
  const Effect vector = effect_of("atom.global.v2.f32.add {%f1,%f2}, [%rd1], {%f3,%f4};");
  CHECK(vector.elements == 2);
  CHECK(vector.type == ScalarType::kF32);
  CHECK(effect_of("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 "
                  "[%r1], %r2, [%r3];")
            .opcode_class == kAsyncCopy);
}

TEST_CASE("fences have an order and a scope") {
  const auto check = [](std::string_view text, MemoryOrder order, Scope scope) {
    CAPTURE(text);
    const Effect effect = effect_of(text);
    CHECK(effect.opcode_class == kFence);
    CHECK(effect.order == order);
    CHECK(effect.scope == scope);
    CHECK_FALSE(effect.not_covered);
  };
  check("membar.cta;", MemoryOrder::kSeqCst, Scope::kCta);
  check("membar.gl;", MemoryOrder::kSeqCst, Scope::kGpu);
  check("membar.sys;", MemoryOrder::kSeqCst, Scope::kSys);
  check("fence.sc.gpu;", MemoryOrder::kSeqCst, Scope::kGpu);
  check("fence.gpu.sc;", MemoryOrder::kSeqCst, Scope::kGpu);
  check("fence.cluster;", MemoryOrder::kAcqRel, Scope::kCluster);
  check("fence.acq_rel.sys;", MemoryOrder::kAcqRel, Scope::kSys);
  check("fence.acquire.cta;", MemoryOrder::kAcquire, Scope::kCta);
  check("fence.release.gpu;", MemoryOrder::kRelease, Scope::kGpu);
  check("fence.mbarrier_init.release.cluster;", MemoryOrder::kRelease, Scope::kCluster);
  check("fence.acquire.sync_restrict::shared::cluster.cluster;", MemoryOrder::kAcquire,
        Scope::kCluster);
  check("fence.release.sync_restrict::shared::cta.cluster;", MemoryOrder::kRelease,
        Scope::kCluster);
  CHECK(effect_of("fence.mbarrier_init.release.cluster;").is_restricted);
  CHECK_FALSE(effect_of("fence.release.sync_restrict::shared::cta.cluster;").is_restricted);
}

TEST_CASE("of the proxy fences those of the async proxy are logged, aliases need nothing") {
  for (const std::string_view text :
       {"fence.proxy.async;", "fence.proxy.async.global;", "fence.proxy.async.shared::cluster;",
        "membar.proxy.async;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster"
        ".cluster;"}) {
    CAPTURE(text);
    CHECK(effect_of(text).opcode_class == kProxyFence);
    CHECK(effect_of(text).operation == Operation::kProxyFence);
    CHECK_FALSE(effect_of(text).not_covered);
  }
  CHECK(effect_of("fence.proxy.alias;").opcode_class == kNoEffect);
  CHECK_FALSE(effect_of("fence.proxy.alias;").not_covered);
  const Effect map = effect_of("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;");
  CHECK(map.opcode_class == kProxyFence);
  CHECK(map.operation == Operation::kProxyFence);
  CHECK(map.proxy == wire::Proxy::kTensorMap);
  CHECK(map.order == MemoryOrder::kAcquire);
  CHECK(map.scope == Scope::kGpu);
  CHECK(effect_of("fence.proxy.tensormap::generic.release.cta;").order == MemoryOrder::kRelease);
  CHECK(effect_of("fence.proxy.fabric;").not_covered);
}

TEST_CASE("changes of tensor maps are stores and copies of their bytes") {
  const Effect change =
      effect_of("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 1, %r2;");
  CHECK(change.operation == Operation::kCopy);
  CHECK(change.asynchrony == Asynchrony::kNone);
  CHECK(change.space == StateSpace::kShared);
  CHECK(change.order == MemoryOrder::kWeak);
  CHECK(effect_of("tensormap.replace.tile.rank.b1024.b32 [%rd1], 2;").space ==
        StateSpace::kGeneric);
  const Effect copy = effect_of(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd1], [%r1], 128;");
  CHECK(copy.operation == Operation::kCopy);
  CHECK(copy.space == StateSpace::kGlobal);
  CHECK(copy.source_space == StateSpace::kShared);
  CHECK(copy.source_operand == 1);
  CHECK(copy.amount_operand == 2);
  CHECK(copy.order == MemoryOrder::kRelease);
  CHECK(copy.scope == Scope::kGpu);
}

TEST_CASE("asynchronous stores of global memory release and are waited for by nothing") {
  const Effect store = effect_of("st.async.mmio.release.sys.global.b64 [%rd1], %rd2;");
  CHECK(store.opcode_class == kStore);
  CHECK(store.operation == Operation::kWrite);
  CHECK(store.asynchrony == Asynchrony::kUnwaited);
  CHECK(store.order == MemoryOrder::kRelease);
  CHECK(store.scope == Scope::kSys);
  const Effect reduction = effect_of("red.async.release.gpu.global.add.u32 [%rd1], %r1;");
  CHECK(reduction.opcode_class == kReduction);
  CHECK(reduction.operation == Operation::kReduction);
  CHECK(reduction.asynchrony == Asynchrony::kUnwaited);
  CHECK(reduction.scope == Scope::kGpu);
}

TEST_CASE("both forms of griddepcontrol are logged") {
  CHECK(effect_of("griddepcontrol.launch_dependents;").operation == Operation::kLaunchDependents);
  CHECK(effect_of("griddepcontrol.wait;").operation == Operation::kGridWait);
  CHECK(effect_of("griddepcontrol.wait;").opcode_class == kGridDependency);
}

TEST_CASE("barriers say where their number and their count stand") {
  const auto check = [](std::string_view text, OpcodeClass opcode_class, int barrier, int count) {
    CAPTURE(text);
    const Effect effect = effect_of(text);
    CHECK(effect.opcode_class == opcode_class);
    CHECK(effect.barrier_operand == barrier);
    CHECK(effect.count_operand == count);
  };
  check("bar.sync 0;", kBarrier, 0, -1);
  check("bar.sync %r1, 64;", kBarrier, 0, 1);
  check("barrier.cta.sync.aligned 3, 96;", kBarrier, 0, 1);
  check("barrier.sync 0;", kBarrier, 0, -1);
  check("bar.arrive 2, 64;", kBarrierArrive, 0, 1);
  check("barrier.cta.arrive 2, 64;", kBarrierArrive, 0, 1);
  check("bar.red.popc.u32 %r1, 0, %p1;", kBarrier, 1, -1);
  check("barrier.cta.red.popc.u32 %r1, 4, 64, !%p1;", kBarrier, 1, 2);
  check("bar.red.or.pred %p1, 0, %p2;", kBarrier, 1, -1);
  check("bar.warp.sync -1;", kWarpBarrier, -1, -1);
  CHECK(effect_of("bar.warp.sync %r1;").value_operand == 0);
  CHECK(effect_of("barrier.cluster.arrive.aligned;").opcode_class == kClusterBarrier);
  CHECK(effect_of("barrier.cluster.arrive;").order == MemoryOrder::kRelease);
  CHECK(effect_of("barrier.cluster.wait;").order == MemoryOrder::kAcquire);
  CHECK(effect_of("barrier.cluster.arrive.relaxed;").order == MemoryOrder::kRelaxed);
  CHECK(effect_of("barrier.cluster.wait;").scope == Scope::kCluster);
  CHECK(effect_of("barrier.cluster.arrive.aligned;").operation == Operation::kClusterArrive);
  CHECK(effect_of("barrier.cluster.wait.acquire;").operation == Operation::kClusterWait);
}

TEST_CASE("mbarrier operations say which operand is what") {
  const auto check = [](std::string_view text, Operation operation, MemoryOrder order, Scope scope,
                        int amount, int bytes) {
    CAPTURE(text);
    const Effect effect = effect_of(text);
    CHECK(effect.opcode_class == kMbarrier);
    CHECK(effect.operation == operation);
    CHECK(effect.order == order);
    CHECK(effect.scope == scope);
    CHECK(effect.amount_operand == amount);
    CHECK(effect.bytes_operand == bytes);
    CHECK_FALSE(effect.not_covered);
  };
  using enum MemoryOrder;
  check("mbarrier.init.shared.b64 [%r1], 3;", Operation::kMbarrierInit, kWeak, Scope::kCta, 1, -1);
  check("mbarrier.inval.b64 [%rd1];", Operation::kMbarrierInvalidate, kWeak, Scope::kCta, -1, -1);
  check("mbarrier.arrive.shared::cta.b64 %rd1, [%r1];", Operation::kMbarrierArrive, kRelease,
        Scope::kCta, -1, -1);
  check("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], %r2;",
        Operation::kMbarrierArrive, kRelease, Scope::kCluster, 2, -1);
  check("mbarrier.arrive_drop.relaxed.cta.b64 %rd1, [%rd2], 2;", Operation::kMbarrierArrive,
        kRelaxed, Scope::kCta, 2, -1);
  check("mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1], 4;", Operation::kMbarrierArrive,
        kRelease, Scope::kCta, 2, -1);
  check("mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %r2;", Operation::kMbarrierArrive, kRelease,
        Scope::kCta, -1, 2);
  check("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], %r2;", Operation::kMbarrierExpect,
        kRelaxed, Scope::kCta, -1, 1);
  check("mbarrier.complete_tx.shared::cluster.b64 [%r1], 8;", Operation::kMbarrierComplete,
        kRelaxed, Scope::kCta, -1, 1);
  check("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;", Operation::kMbarrierWait, kAcquire,
        Scope::kCta, -1, -1);
  check("mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [%r1], %r2, 500;",
        Operation::kMbarrierWait, kAcquire, Scope::kCluster, 2, -1);
  CHECK(effect_of("mbarrier.arrive.shared::cta.b64 %rd1, [%r1];").address_operand == 1);
  CHECK(effect_of("mbarrier.complete_tx.shared::cluster.b64 [%r1], 8;").shared_cluster);
  CHECK(effect_of("mbarrier.pending_count.b64 %r1, %rd1;").opcode_class == kArithmetic);
  CHECK_FALSE(effect_of("mbarrier.pending_count.b64 %r1, %rd1;").not_covered);
}

TEST_CASE("asynchronous copies say where from, where to, how much, and who is told") {
  const Effect plain =
      effect_of("cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;");
  CHECK(plain.opcode_class == kAsyncCopy);
  CHECK(plain.operation == Operation::kCopy);
  CHECK(plain.asynchrony == Asynchrony::kThreadGroup);
  CHECK(plain.proxy == Proxy::kGeneric);
  CHECK(plain.space == StateSpace::kShared);
  CHECK(plain.source_space == StateSpace::kGlobal);
  CHECK(plain.address_operand == 0);
  CHECK(plain.source_operand == 1);
  CHECK(plain.amount_operand == 2);
  CHECK(plain.bytes_operand == -1);
  CHECK(effect_of("cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;").bytes_operand == 3);
  const Effect bulk = effect_of(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r1], [%rd1], %r2, [%r3], %h1;");
  CHECK(bulk.operation == Operation::kCopy);
  CHECK(bulk.asynchrony == Asynchrony::kMbarrier);
  CHECK(bulk.proxy == Proxy::kAsync);
  CHECK(bulk.shared_cluster);
  CHECK(bulk.source_space == StateSpace::kGlobal);
  CHECK(bulk.amount_operand == 2);
  CHECK(bulk.mbarrier_operand == 3);
  CHECK(bulk.mask_operand == 4);
  const Effect back = effect_of(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [%r1], 16;");
  CHECK(back.asynchrony == Asynchrony::kBulkGroup);
  CHECK(back.space == StateSpace::kGlobal);
  CHECK(back.source_space == StateSpace::kShared);
  CHECK_FALSE(back.source_shared_cluster);
  CHECK(back.order == MemoryOrder::kRelaxed);
  CHECK(back.scope == Scope::kGpu);
  CHECK(back.mbarrier_operand == -1);
  const Effect store = effect_of(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%r1], {%rd1,%rd2}, "
      "[%r2];");
  CHECK(store.operation == Operation::kCopy);
  CHECK(store.order == MemoryOrder::kWeak);
  CHECK(store.elements == 2);
  CHECK(store.mbarrier_operand == 2);
  CHECK(store.source_operand == -1);
  CHECK(store.proxy == Proxy::kGeneric);
}

TEST_CASE("copies of boxes say which operand is the map and which is shared memory") {
  const Effect load = effect_of(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [%r1], [%rd1, {%r2,%r3}], [%r4], %h1;");
  CHECK(load.operation == Operation::kTensorCopy);
  CHECK(load.asynchrony == Asynchrony::kMbarrier);
  CHECK(load.proxy == Proxy::kAsync);
  CHECK(load.space == StateSpace::kShared);
  CHECK(load.shared_cluster);
  CHECK(tensor_operand(load) == 1);
  CHECK(tensor_shared_operand(load) == 0);
  CHECK(load.mbarrier_operand == 2);
  CHECK(load.mask_operand == 3);
  const Effect alone = effect_of(
      "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%r1], [%rd1, {%r2}], [%r4], %rd2;");
  CHECK(alone.operation == Operation::kTensorCopy);
  CHECK(alone.mask_operand == -1);
  for (const bool adds : {false, true}) {
    const Effect store = effect_of(
        adds ? "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, "
               "{%r2}], [%r1];"
             : "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r2}], [%r1];");
    CHECK(store.operation == Operation::kTensorCopy);
    CHECK(store.asynchrony == Asynchrony::kBulkGroup);
    CHECK(tensor_operand(store) == 0);
    CHECK(tensor_shared_operand(store) == 1);
    CHECK(store.order == (adds ? MemoryOrder::kRelaxed : MemoryOrder::kWeak));
  }
  CHECK(effect_of("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r2,%r3}];")
            .opcode_class == kNoEffect);
}

TEST_CASE("copies of pixels have offsets before the mask of a multicast") {
  const Effect load = effect_of(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes."
      "multicast::cluster [%r1], [%rd1, {%r2,%r3,%r5,%r6}], [%r4], {%h1, %h2}, %h3;");
  CHECK(load.operation == Operation::kTensorCopy);
  CHECK(load.mbarrier_operand == 2);
  CHECK(load.offsets_operand == 3);
  CHECK(load.mask_operand == 4);
  const Effect alone = effect_of(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
      "[%rd1, {%r2,%r3,%r5}], [%r4], {%h1};");
  CHECK(alone.operation == Operation::kTensorCopy);
  CHECK(alone.offsets_operand == 3);
  CHECK(alone.mask_operand == -1);
  const Effect store = effect_of(
      "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, "
      "{%r2,%r3,%r5}], [%r1];");
  CHECK(store.operation == Operation::kTensorCopy);
  CHECK(store.offsets_operand == -1);
}

TEST_CASE("a copy may name the bytes of each sixteen, and a bulk store has none to read") {
  const Effect masked =
      effect_of("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %h1;");
  CHECK(masked.operation == Operation::kCopy);
  CHECK(masked.asynchrony == Asynchrony::kBulkGroup);
  CHECK(masked.mask_operand == 3);
  CHECK(effect_of("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], "
                  "[%r1], 16, %rd2, %h1;")
            .mask_operand == 4);
  const Effect store = effect_of("st.bulk.weak.shared::cta [%r1], %rd1, 0;");
  CHECK(store.operation == Operation::kCopy);
  CHECK(store.asynchrony == Asynchrony::kNone);
  CHECK(store.space == StateSpace::kShared);
  CHECK(store.amount_operand == 1);
  CHECK(store.source_operand == -1);
  CHECK(effect_of("st.bulk [%rd1], 64, 0;").space == StateSpace::kGeneric);
}

TEST_CASE("whether an mbarrier operation says its scope is known") {
  CHECK(effect_of("mbarrier.arrive.shared::cluster.b64 _, [%r1];").is_unscoped);
  CHECK_FALSE(effect_of("mbarrier.arrive.release.cta.shared::cta.b64 _, [%r1];").is_unscoped);
  CHECK(effect_of("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;").is_unscoped);
  CHECK_FALSE(effect_of("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], %r2;")
                  .is_unscoped);
}

TEST_CASE("groups of copies and waits have an operation, other forms are not covered") {
  CHECK(effect_of("cp.async.commit_group;").operation == Operation::kAsyncCommit);
  const Effect wait = effect_of("cp.async.wait_group 2;");
  CHECK(wait.operation == Operation::kAsyncWait);
  CHECK(wait.asynchrony == Asynchrony::kThreadGroup);
  CHECK(wait.amount_operand == 0);
  CHECK(effect_of("cp.async.wait_all;").amount_operand == -1);
  CHECK(effect_of("cp.async.bulk.wait_group.read 0;").asynchrony == Asynchrony::kBulkGroup);
  CHECK(effect_of("cp.async.mbarrier.arrive.noinc.b64 [%rd1];").operation ==
        Operation::kAsyncArrive);
  CHECK(effect_of("cp.async.bulk.prefetch.L2.global [%rd1], 16;").opcode_class == kNoEffect);
  for (const std::string_view text :
       {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r2,%r3,%r5}], [%r4], {%h1, %h2};",
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
        "[%rd1, {%r2,%r3,%r5,%r6}], [%r4], {%h1};",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r2,%r3,%r5,%r6,%r7}], [%r4];",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16;",
        "st.async.weak.global.b32 [%rd1], %r1;",
        "red.async.relaxed.gpu.global.add.u32 [%rd1], %r1;",
        "multimem.red.release.gpu.global.add.u32 [%rd1], %r1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %r1, 0, 1, 1, 1, "
        "0, 0;",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
        "multicast::cluster::all.b128 [%r1], [%r2];"}) {
    CAPTURE(text);
    CHECK(effect_of(text).not_covered);
    CHECK_FALSE(effect_of(text).operation);
  }
}

TEST_CASE("a request to cancel a block is a copy of its response, by the async proxy") {
  const Effect effect = effect_of(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], "
      "[%r2];");
  CHECK_FALSE(effect.not_covered);
  CHECK(effect.operation == Operation::kCopy);
  CHECK(effect.asynchrony == Asynchrony::kMbarrier);
  CHECK(effect.proxy == wire::Proxy::kAsync);
  CHECK(effect.space == StateSpace::kShared);
  CHECK(effect.address_operand == 0);
  CHECK(effect.source_operand == -1);
  CHECK(effect.mbarrier_operand == 1);
  CHECK(effect_of("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1;")
            .opcode_class == kArithmetic);
}

TEST_CASE("products of a warpgroup, their groups and waits") {
  const Effect product = effect_of(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, 0, 0;");
  CHECK(product.operation == Operation::kMatrixProduct);
  CHECK(effect_of("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1}, %rd1, %rd2, %r1, 0, "
                  "%p1, 1, 1, 0, 0;")
            .operation == Operation::kMatrixProduct);
  CHECK(product.asynchrony == Asynchrony::kMatrixGroup);
  CHECK(product.proxy == wire::Proxy::kAsync);
  CHECK_FALSE(product.not_covered);
  const Effect commit = effect_of("wgmma.commit_group.sync.aligned;");
  CHECK(commit.operation == Operation::kAsyncCommit);
  CHECK(commit.asynchrony == Asynchrony::kMatrixGroup);
  const Effect wait = effect_of("wgmma.wait_group.sync.aligned 2;");
  CHECK(wait.operation == Operation::kAsyncWait);
  CHECK(wait.asynchrony == Asynchrony::kMatrixGroup);
  CHECK(wait.amount_operand == 0);
  CHECK_FALSE(effect_of("wgmma.fence.sync.aligned;").operation);
  CHECK_FALSE(effect_of("wgmma.fence.sync.aligned;").not_covered);
}

TEST_CASE("control flow, collectives, matrices and textures have their classes") {
  CHECK(effect_of("@%p1 bra L;").opcode_class == kBranch);
  CHECK(effect_of("brx.idx %r1, ts;").opcode_class == kBranch);
  CHECK(effect_of("call f;").opcode_class == kCall);
  CHECK(effect_of("ret.uni;").opcode_class == kReturn);
  CHECK(effect_of("exit;").opcode_class == kExit);
  CHECK(effect_of("trap;").opcode_class == kTrap);
  CHECK(effect_of("vote.ballot.sync.b32 %r1, %p1, -1;").opcode_class == kWarpCollective);
  CHECK(effect_of("nanosleep.u32 100;").opcode_class == kNoEffect);
  CHECK(effect_of("cvta.to.global.u64 %rd1, %rd2;").opcode_class == kArithmetic);
  const Effect matrix =
      effect_of("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];");
  CHECK(matrix.opcode_class == kMatrixAccess);
  CHECK(matrix.address_operand == 1);
  CHECK_FALSE(matrix.not_covered);
  CHECK(effect_of("ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r1,%r2}, [%r5];").not_covered);
  CHECK(effect_of("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1}, %r1;")
            .address_operand == 0);
  CHECK(effect_of("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1},{%r1},{%r2},{%f2};")
            .opcode_class == kArithmetic);
  CHECK(effect_of("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f5,%f6}];").opcode_class == kTexture);
}

TEST_CASE("tcgen05 reads shared memory by descriptors, and a commit arrives at an mbarrier") {
  const Effect product =
      effect_of("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;");
  CHECK(product.operation == Operation::kMatrixProduct);
  CHECK(product.asynchrony == Asynchrony::kTensorCore);
  CHECK(product.proxy == wire::Proxy::kAsync);
  CHECK(effect_of("tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;").operation ==
        Operation::kMatrixProduct);
  const Effect commit =
      effect_of("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];");
  CHECK(commit.operation == Operation::kAsyncArrive);
  CHECK(commit.asynchrony == Asynchrony::kTensorCore);
  CHECK(commit.order == MemoryOrder::kRelease);
  CHECK(commit.address_operand == 0);
  const Effect allocation =
      effect_of("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;");
  CHECK(allocation.operation == Operation::kCopy);
  CHECK(allocation.space == StateSpace::kShared);
  CHECK(allocation.source_operand == -1);
  for (const std::string_view text :
       {"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
        "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;",
        "tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"}) {
    INFO(text);
    CHECK_FALSE(effect_of(text).not_covered);
    CHECK_FALSE(effect_of(text).operation);
  }
}

TEST_CASE("what tcgen05 does to tensor memory, and what two blocks do by it, is not covered") {
  for (const std::string_view text :
       {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];",
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};",
        "tcgen05.shift.cta_group::1.down [%r2];",
        "tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
        "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
        "tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%r1], %rd1;",
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r1];",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%r1], %rs1;"}) {
    INFO(text);
    CHECK(effect_of(text).not_covered);
  }
}

TEST_CASE("an unknown instruction is not covered if it could touch memory") {
  CHECK(effect_of("frobnicate.u32 %r1, [%rd1];").not_covered);
  CHECK(effect_of("frobnicate.u32 %r1, [%rd1];").address_operand == 1);
  CHECK(effect_of("frobnicate.u32 %r1, %r2;").opcode_class == kUnknown);
  CHECK_FALSE(effect_of("frobnicate.u32 %r1, %r2;").not_covered);
  CHECK(effect_of("multimem.red.release.gpu.global.add.u32 [%rd1], %r1;").not_covered);
}

}  // namespace barracuda::ptx
