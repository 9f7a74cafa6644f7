// The fields of every struct that travels, in their order in the file.
#pragma once

#include <concepts>
#include <type_traits>

#include "trace/codec.h"
#include "trace/event.h"

namespace barracuda {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

}  // namespace barracuda

// Found by argument-dependent look-up, hence in the namespaces of the structs.
namespace barracuda::wire {

template <typename Codec, Is<SiteInfo> T>
void travel(Codec& codec, T& site) {
  using trace::Choice;
  codec(Choice{site.operation, Operation::kMeet}, Choice{site.order, MemoryOrder::kSeqCst},
        Choice{site.scope, Scope::kSys}, Choice{site.proxy, Proxy::kAsync}, site.element_bytes,
        site.element_count, site.flag_store, site.poll, site.speculated,
        Choice{site.idiom_scope, Scope::kSys}, site.stores_constant, site.numbered, site.aligned,
        Choice{site.asynchrony, Asynchrony::kMbarrier}, site.reads_only,
        Choice{site.acquires, FenceScope::kGlobal}, Choice{site.releases, FenceScope::kGlobal},
        site.constant);
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
        site.variable, site.in_update, site.frames);
}

template <typename Codec, Is<NotCovered> T>
void travel(Codec& codec, T& gap) {
  codec(gap.function, gap.instruction, gap.reason, gap.ptx_line, gap.where, gap.count);
}

}  // namespace barracuda::ptx

namespace barracuda::detector {

template <typename Codec, Is<Dim3> T>
void travel(Codec& codec, T& extent) {
  codec(extent.x, extent.y, extent.z);
}

template <typename Codec, Is<LaunchInfo> T>
void travel(Codec& codec, T& launch) {
  codec(launch.id, launch.grid, launch.block, launch.cluster, launch.ordered_after,
        launch.prerequisite, launch.prerequisite_over);
}

template <typename Codec, Is<MemoryRows> T>
void travel(Codec& codec, T& rows) {
  codec(rows.address, rows.row_bytes, rows.pitch, rows.rows, rows.is_written);
}

template <typename Codec, Is<CopyInfo> T>
void travel(Codec& codec, T& copy) {
  codec(copy.id, trace::Choice{copy.operation, HostOperation::kFree}, copy.call, copy.ordered_after,
        copy.host_waited, copy.accesses);
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

template <typename Codec, Is<RunOptions> T>
void travel(Codec& codec, T& options) {
  codec(options.text, options.suppressions);
}

template <typename Codec, Is<StreamBegin> T>
void travel(Codec& codec, T& event) {
  codec(event.tool_version, event.protocol, event.process, event.program, event.rank,
        event.options);
}

template <typename Codec, Is<DeviceNamed> T>
void travel(Codec& codec, T& event) {
  codec(event.name);
}

template <typename Codec, Is<SiteDescribed> T>
void travel(Codec& codec, T& event) {
  codec(event.site);
}

template <typename Codec, Is<SitesAdded> T>
void travel(Codec& codec, T& event) {
  codec(event.first, event.count);
}

template <typename Codec, Is<KernelNamed> T>
void travel(Codec& codec, T& event) {
  codec(event.name);
}

template <typename Codec, Is<LaunchDescribed> T>
void travel(Codec& codec, T& event) {
  codec(event.id, event.kernel, event.stream, event.grid, event.block, event.stack);
}

template <typename Codec, Is<LaunchBegun> T>
void travel(Codec& codec, T& event) {
  codec(event.launch);
}

template <typename Codec, Is<RecordApplied> T>
void travel(Codec& codec, T& event) {
  codec(event.launch, event.record);
}

template <typename Codec, Is<LaunchEnded> T>
void travel(Codec& codec, T& event) {
  codec(event.launch);
}

template <typename Codec, Is<MemoryForgotten> T>
void travel(Codec& codec, T& event) {
  codec(event.address, event.bytes);
}

template <typename Codec, Is<PlaceNamed> T>
void travel(Codec& codec, T& event) {
  codec(event.stack, event.kernel, event.place);
}

template <typename Codec, Is<AllocationKnown> T>
void travel(Codec& codec, T& event) {
  codec(event.allocation);
}

template <typename Codec, Is<KernelCounted> T>
void travel(Codec& codec, T& event) {
  codec(event.kernel);
}

template <typename Codec, Is<InstructionNotCovered> T>
void travel(Codec& codec, T& event) {
  codec(event.instruction);
}

template <typename Codec, Is<MemoryErrorFound> T>
void travel(Codec& codec, T& event) {
  codec(event.error);
}

template <typename Codec, Is<RunEnd> T>
void travel(Codec& codec, T& event) {
  codec(event.launch_count, event.device, event.problems, event.blocked, event.option_error,
        event.tool_failure, event.used_cuda, event.own_status);
}

template <typename Codec, Is<RecordingFailed> T>
void travel(Codec& codec, T& event) {
  codec(event.reason);
}

template <typename Codec, Is<CopyDescribed> T>
void travel(Codec& codec, T& event) {
  codec(event.call, trace::Choice{event.operation, detector::HostOperation::kFree}, event.stream,
        event.stack);
}

template <typename Codec, Is<CopyBegun> T>
void travel(Codec& codec, T& event) {
  codec(event.copy);
}

template <typename Codec, Is<CopyPlaceNamed> T>
void travel(Codec& codec, T& event) {
  codec(event.stack, event.place);
}

template <typename Codec, Is<ProgramEnded> T>
void travel(Codec& codec, T& event) {
  codec(event.options, event.status, event.lost, event.blocked);
}

}  // namespace barracuda::trace
