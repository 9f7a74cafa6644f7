// The fields of every struct that travels, in their order in the file. Of an event that is a plain
// list of values, the declaration in event.h says them.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include <boost/mp11/algorithm.hpp>
#include <boost/pfr.hpp>

#include "trace/codec.h"
#include "trace/event.h"

namespace barracuda {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

template <typename Codec, Is<TensorMap> T>
void travel(Codec& codec, T& map) {
  using trace::Choice;
  codec(map.address, map.rank, Choice{map.element, TensorElement::kTf32Ftz},
        Choice{map.swizzle, TensorSwizzle::k128Bytes}, map.fills_with_nan);
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    codec(map.last[i], map.box[i], map.steps[i]);
  }
  for (auto& stride : map.strides) {
    codec(stride);
  }
  for (std::size_t i = 0; i < kMaxPixelDimensions; ++i) {
    auto lower = static_cast<std::uint16_t>(map.lower[i]);  // NOLINT(misc-const-correctness): what
    auto upper =
        static_cast<std::uint16_t>(map.upper[i]);  // NOLINT(misc-const-correctness): is read
    codec(lower, upper);
    if constexpr (!std::is_const_v<T>) {
      map.lower[i] = static_cast<std::int16_t>(lower);
      map.upper[i] = static_cast<std::int16_t>(upper);
    }
  }
  codec(map.pixels);
}

}  // namespace barracuda

// Found by argument-dependent look-up, hence in the namespaces of the structs.
namespace barracuda::wire {

template <typename Codec, Is<SiteInfo> T>
void travel(Codec& codec, T& site) {
  using trace::Choice;
  codec(Choice{site.operation, Operation::kSharedPlace}, Choice{site.order, MemoryOrder::kSeqCst},
        Choice{site.scope, Scope::kSys}, Choice{site.proxy, Proxy::kSurface}, site.element_bytes,
        site.element_count, site.flag_store, site.poll, site.speculated,
        Choice{site.idiom_scope, Scope::kSys}, site.stores_constant, site.numbered, site.aligned,
        Choice{site.asynchrony, Asynchrony::kTensorCore}, site.reads_only,
        Choice{site.acquires, FenceScope::kGlobal}, Choice{site.releases, FenceScope::kGlobal},
        site.is_replicated, site.waits_for_change, site.is_unscoped, site.constant);
}

}  // namespace barracuda::wire

namespace barracuda::ptx {

template <typename Codec, Is<SourceFrame> T>
void travel(Codec& codec, T& frame) {
  codec(frame.function, frame.file, frame.line, frame.column);
}

template <typename Codec, Is<Site> T>
void travel(Codec& codec, T& site) {
  codec(site.id, site.info, site.function, site.in_entry, site.instruction, site.ptx_line,
        site.ordinal, site.variable, site.update, site.is_divergent, site.is_skipped, site.loops,
        site.frames);
}

template <typename Codec, Is<NotCovered> T>
void travel(Codec& codec, T& gap) {
  codec(gap.function, gap.instruction, gap.reason, gap.ptx_line, gap.where, gap.count);
}

template <typename Codec, Is<RegisterHazard::Place> T>
void travel(Codec& codec, T& place) {
  codec(place.instruction, place.ptx_line, place.frames);
}

template <typename Codec, Is<RegisterHazard> T>
void travel(Codec& codec, T& hazard) {
  codec(trace::Choice{hazard.kind, RegisterHazard::Kind::kFenceMissing}, hazard.function,
        hazard.register_name, hazard.product, hazard.touch);
}

}  // namespace barracuda::ptx

namespace barracuda::detector {

template <typename Codec, Is<Dim3> T>
void travel(Codec& codec, T& extent) {
  codec(extent.x, extent.y, extent.z);
}

template <typename Codec, Is<WorkId> T>
void travel(Codec& codec, T& id) {
  WorkId::Packed packed = id.packed();
  codec(trace::Choice{.value = packed, .last = WorkId::kMostPacked});
  if constexpr (!std::is_const_v<T>) {
    id = WorkId::of(packed);
  }
}

template <typename Codec, Is<LaunchInfo> T>
void travel(Codec& codec, T& launch) {
  WorkId prerequisite = launch.prerequisite;  // NOLINT(misc-const-correctness): what is read
  codec(launch.id, launch.grid, launch.block, launch.cluster, launch.ordered_after, prerequisite,
        launch.prerequisite_over);
  if constexpr (!std::is_const_v<T>) {
    launch.prerequisite = prerequisite.is_copy() ? LaunchId{} : prerequisite.launch();
  }
}

template <typename Codec, Is<MemoryRows> T>
void travel(Codec& codec, T& rows) {
  codec(rows.address, rows.row_bytes, rows.pitch, rows.rows, rows.is_written);
}

template <typename Codec, Is<CopyInfo> T>
void travel(Codec& codec, T& copy) {
  WorkId id = copy.id;  // NOLINT(misc-const-correctness): what is read
  codec(id, trace::Choice{copy.operation, HostOperation::kFree}, copy.call, copy.ordered_after,
        copy.host_waited, copy.accesses);
  if constexpr (!std::is_const_v<T>) {
    copy.id = id.is_copy() ? id.copy() : CopyId{};  // which no copy has
  }
}

}  // namespace barracuda::detector

namespace barracuda::report {

template <typename Codec, Is<AllocationRecord> T>
void travel(Codec& codec, T& allocation) {
  codec(allocation.address, allocation.bytes, allocation.description, allocation.freed);
}

template <typename Codec, Is<KernelRecord> T>
void travel(Codec& codec, T& kernel) {
  codec(kernel.name, kernel.instrumented, kernel.reason, kernel.launches, kernel.synchronises,
        kernel.unchecked_launches, kernel.left_out_launches);
}

template <typename Codec, Is<StandingRecord> T>
void travel(Codec& codec, T& standing) {
  codec(standing.frames, standing.block, standing.thread, standing.waits);
}

template <typename Codec, Is<MemoryErrorRecord> T>
void travel(Codec& codec, T& error) {
  codec(trace::Choice{error.end, KernelEnd::kDeadlock}, error.what, error.where, error.inlined,
        error.kernel, error.launch, error.address, error.size, error.has_thread, error.is_write,
        error.block, error.thread, error.standing);
}

}  // namespace barracuda::report

namespace barracuda::trace {

template <typename Codec, Is<CopyDescribed> T>
void travel(Codec& codec, T& event) {
  codec(event.call, trace::Choice{event.operation, detector::HostOperation::kFree}, event.stream,
        event.stack);
}

template <typename Codec, Is<TensorMapKnown> T>
void travel(Codec& codec, T& event) {
  codec(event.number, event.map);
}

// Of the others every field travels, in the order in which they are declared.
template <typename T>
concept PlainEvent =
    !Is<T, CopyDescribed> && !Is<T, TensorMapKnown> &&
    (Is<T, RunOptions> || boost::mp11::mp_contains<Event, std::remove_const_t<T>>::value);

template <typename Codec, PlainEvent T>
void travel(Codec& codec, T& event) {
  std::apply(codec, boost::pfr::structure_tie(event));
}

}  // namespace barracuda::trace
