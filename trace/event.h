// What a trace tells, in the order in which it happened: all that a report of the same run is made
// of. A process's events begin with StreamBegin; RunEnd is the last one if the process came to its
// end. The fields travel as they stand here: bump kFormatVersion (block.h) with any change, here or
// in event_fields.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/tensor_map.h"
#include "host_detector/copy.h"
#include "ptx/instrument.h"
#include "ptx/site_table.h"
#include "report/run_data.h"

namespace barracuda::trace {

// What a report of it needs of the options of a run.
struct RunOptions {
  std::string text;                         // as BARRACUDA_OPTIONS says them
  std::optional<std::string> suppressions;  // what that option's file held
};

struct StreamBegin {
  std::string tool_version;
  std::uint32_t protocol = 0;  // wire::kProtocolVersion: how records are to be read
  std::uint32_t process = 0;
  std::string program;
  std::optional<std::uint32_t> rank;
  RunOptions options;
};

struct DeviceNamed {
  std::string name;
};

// Sites come one by one, densely numbered from 0; the detector learns of them with SitesAdded.
struct SiteDescribed {
  ptx::Site site;
};

struct SitesAdded {
  wire::SiteId first{};
  std::uint32_t count = 0;
};

// Kernel names are numbered from 0 as they come.
struct KernelNamed {
  std::string name;
};

// A launch that is to be checked. Launches are described in the order of their numbers, from 1.
struct LaunchDescribed {
  detector::LaunchId id{};
  std::uint32_t kernel = 0;
  std::uint64_t stream = 0;
  detector::Dim3 grid, block;
  std::uint32_t stack = 0;         // 0: not known
  std::uint32_t logger_bytes = 0;  // of shared memory
};

// A call that copies, sets, allocates or frees memory. Described in the order of their numbers,
// from 0.
struct CopyDescribed {
  detector::CallId call{};
  detector::HostOperation operation = detector::HostOperation::kCopy;
  std::uint64_t stream = 0;
  std::uint32_t stack = 0;  // 0: not known
};

struct CopyBegun {
  detector::CopyInfo copy;
};

struct LaunchBegun {
  detector::LaunchInfo launch;
};

struct RecordApplied {
  detector::LaunchId launch{};
  std::span<const std::byte> record;  // as it lay in its queue
};

// Force-ended.
struct LaunchEnded {
  detector::LaunchId launch{};
};

struct MemoryForgotten {
  std::uint64_t address = 0, bytes = 0;
};

// Where the program launched kernels: return addresses mean nothing on another machine.
struct PlaceNamed {
  std::uint32_t stack = 0, kernel = 0;
  std::string place;
};

// The same for copies.
struct CopyPlaceNamed {
  std::uint32_t stack = 0;
  ptx::SourceFrame place;
};

struct AllocationKnown {
  report::AllocationRecord allocation;
};

struct KernelCounted {
  report::KernelRecord kernel;
};

struct InstructionNotCovered {
  ptx::NotCovered instruction;
};

struct RegisterHazardFound {
  ptx::RegisterHazard hazard;
};

struct MemoryErrorFound {
  report::MemoryErrorRecord error;
};

// What else the report's summary rests on.
struct RunEnd {
  std::uint64_t launch_count = 0;
  std::string device;
  std::vector<std::string> problems, blocked;
  std::string option_error, tool_failure;
  bool used_cuda = false;
  std::optional<std::uint32_t> own_status;  // of the process, if it is known
};

// Nothing more could be written, for this reason.
struct RecordingFailed {
  std::string reason;
};

struct TensorMapKnown {
  std::uint64_t number = 0;  // wire::map_number
  TensorMap map;
};

// `barracuda run` adds this after the last process, as a stream of its own.
struct ProgramEnded {
  RunOptions options;
  std::uint32_t status = 0;
  std::vector<std::string> lost;     // processes without a report
  std::vector<std::string> blocked;  // why nothing was launched
};

// The number of an alternative is its mark in the file: new ones go to the end.
using Event =
    std::variant<StreamBegin, DeviceNamed, SiteDescribed, SitesAdded, KernelNamed, LaunchDescribed,
                 LaunchBegun, RecordApplied, LaunchEnded, MemoryForgotten, PlaceNamed,
                 AllocationKnown, KernelCounted, InstructionNotCovered, MemoryErrorFound, RunEnd,
                 RecordingFailed, ProgramEnded, CopyDescribed, CopyBegun, CopyPlaceNamed,
                 TensorMapKnown, RegisterHazardFound>;

// Appends it to `to`. `Kind` is one of the alternatives of Event.
template <typename Kind>
void encode(const Kind& event, std::vector<std::byte>& to);

// Takes one event off the front of `from`; false if there is none that makes sense. Spans in it
// point into `from`.
bool decode(std::span<const std::byte>& from, Event& event);

}  // namespace barracuda::trace
