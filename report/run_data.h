// Everything a report is made of: what the session knows at its end. Plain data; the session fills
// it, report/ resolves it into finished reports.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host_detector/copy.h"
#include "host_detector/race_event.h"
#include "ptx/instrument.h"
#include "ptx/site_list.h"
#include "report/race_report.h"

namespace barracuda::report {

struct LaunchRecord {
  detector::LaunchId id{};
  std::string kernel;        // mangled
  std::uint64_t stream = 0;  // number of the stream, 0 = default
  detector::Dim3 grid, block;
  bool leaves_out_barriers = false;       // those before which nothing was logged are not logged
  std::uint32_t logger_bytes = 0;         // of shared memory, before the program's
  std::vector<std::uint64_t> host_stack;  // return addresses, innermost first
  std::string launched_from;  // what they stand for, where they cannot be looked up: in a replay
};

// A call of the program that copies or sets memory, allocates or frees it in stream order.
struct CopyRecord {
  detector::CallId call{};  // which its accesses name
  detector::HostOperation operation = detector::HostOperation::kCopy;
  std::uint64_t stream = 0;
  std::vector<std::uint64_t> host_stack;  // return addresses, innermost first
  ptx::SourceFrame place;  // what they stand for, where they cannot be looked up: in a replay
};

struct AllocationRecord {
  std::uint64_t address = 0, bytes = 0;
  std::string description;  // "cudaMalloc", "managed memory", "__device__ variable counter"
  bool freed = false;
};

struct KernelRecord {
  std::string name;  // mangled
  bool instrumented = false;
  std::string reason;  // why not
  std::uint64_t launches = 0;
  bool synchronises = false;
  bool leaves_out_barriers = false;  // with the filter, as of a launch
  std::uint32_t logger_bytes = 0;    // as of a launch
  std::uint64_t unchecked_launches =
      0;                                // of an instrumented kernel, launches that were not checked
  std::uint64_t left_out_launches = 0;  // by the user's options, which is no gap
};

enum class KernelEnd : std::uint8_t { kMemoryError, kTimeout, kDeadlock };

// Where a thread was when its kernel was ended.
struct StandingRecord {
  std::vector<ptx::SourceFrame> frames;  // innermost first; at least a function
  detector::Dim3 block, thread;
  bool waits = false;
};

// The program did something that ends a kernel (emulated device: with place; GPU: the error only).
struct MemoryErrorRecord {
  KernelEnd end = KernelEnd::kMemoryError;
  std::string what;  // "out-of-bounds write of 4 bytes"; else what the kernel did: "did not end …"
  ptx::SourceFrame where;
  std::vector<ptx::SourceFrame> inlined;
  std::string kernel;
  detector::LaunchId launch{};
  std::uint64_t address = 0;
  std::uint32_t size = 0;   // 0: the address is not known, or there is none
  bool has_thread = false;  // block and thread are known
  bool is_write = false;
  detector::Dim3 block{.x = 0, .y = 0, .z = 0}, thread{.x = 0, .y = 0, .z = 0};
  std::vector<StandingRecord> standing;  // of a kernel that did not end by itself
};

struct RunData {
  detector::Findings findings;
  ptx::SiteList sites;                 // index = SiteId
  std::vector<LaunchRecord> launches;  // the ones that findings name, at least
  std::uint64_t launch_count = 0;
  std::vector<CopyRecord> copies;  // the ones that findings name, at least
  std::vector<AllocationRecord> allocations;
  std::vector<KernelRecord> kernels;  // those that were launched
  // Mangled name → file name, of kernels that came with a library that the program uses.
  std::map<std::string, std::string> kernel_libraries;
  std::vector<ptx::NotCovered> not_covered;           // in kernels that were launched
  std::vector<ptx::RegisterHazard> register_hazards;  // in kernels that were launched
  std::vector<std::string> problems;  // other gaps, each a sentence: "3 records were malformed"
  std::vector<MemoryErrorRecord> memory_errors;
  Process process;
  std::string device;  // "NVIDIA H200", "emulated device (2 workers)"

  // The process has to do with CUDA: it registered a fat binary, initialised the driver or tried
  // to. A launch implies it. Without it and without a message below, finish() stays silent.
  bool used_cuda = false;
  // Exit status 67: why the program could not be checked at all, with what to do about it, each a
  // sentence or two: static cudart without a driver, a kernel without PTX on the emulated device.
  std::vector<std::string> blocked;
  std::uint64_t waiting_bytes = 0;  // of records that were not checked yet
  int own_status = kUnknownStatus;  // of the process (race_report.h)
  std::string option_error;         // exit status 64: BARRACUDA_OPTIONS could not be understood
  std::string tool_failure;         // exit status 70: the tool itself failed, in a sentence
};

}  // namespace barracuda::report
