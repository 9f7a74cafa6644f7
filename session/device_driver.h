// The device as the session sees it: the driver functions that the tool itself calls. preload/
// implements it over the driver itself, never over our hooks. Calls need a current context unless
// their comment says otherwise, and leave the program's own state (capture mode, last error) as it
// was. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace barracuda::session {

// CUDA's own numbers: 0 is success.
using DriverStatus = int;

// A handle of the driver: CUcontext, CUmodule, CUlibrary, CUfunction, CUkernel, CUstream ...
enum class Handle : std::uint64_t {};

// Memory of the tool's own on a device; DevicePointer{} is none. The program's memory is ranges of
// numbers instead, as accesses are compared with them.
enum class DevicePointer : std::uint64_t {};

// A place in the order of a stream's work; 0 is none.
enum class Mark : std::uint64_t {};

struct MemoryRange {
  std::uint64_t address = 0, bytes = 0;
};

// What CUDA knows of an address.
enum class MemoryKind : std::uint8_t { kPageable, kPinned, kDevice, kManaged };

// A kernel of the tool's own.
struct ToolKernel {
  const char* ptx = nullptr;
  const char* name = nullptr;
  std::uint32_t blocks = 1, threads = 1;
  std::span<void*> arguments;
};

enum class ToolKernelEnd : std::uint8_t {
  kDone,
  kFailed,
  kStillRunning,  // what it uses must stay
};

struct DeviceSize {
  std::uint32_t multiprocessors = 0;
  std::uint32_t shared_bytes = 0;  // of each
  std::uint64_t memory_bytes = 0;  // free or not
};

class DeviceDriver {
 public:
  DeviceDriver() = default;
  virtual ~DeviceDriver() = default;
  DeviceDriver(const DeviceDriver&) = delete;
  DeviceDriver& operator=(const DeviceDriver&) = delete;

  [[nodiscard]] virtual bool is_emulated() const = 0;
  // Of the current device, or of the first without a context.
  [[nodiscard]] virtual std::string device_name() const = 0;
  [[nodiscard]] virtual std::uint32_t device_arch() const = 0;  // 90 for sm_90
  [[nodiscard]] virtual DeviceSize size() const = 0;
  // Handle{} if none is current.
  [[nodiscard]] virtual Handle current_context() const = 0;

  // Pinned, zeroed host memory with the same address on all devices; null if it cannot be had.
  virtual std::byte* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(std::byte* memory) = 0;
  // Zeroed device memory; none if it cannot be had.
  virtual DevicePointer allocate_device(std::size_t bytes) = 0;
  virtual void free_device(DevicePointer memory) = 0;

  // Zeroes device memory behind the work that the stream has now. False if it will not.
  virtual bool clear(Handle stream, DevicePointer memory, std::size_t bytes) = 0;

  // Into device memory, in a stream of its own; waits until it is there.
  virtual bool write(DevicePointer memory, std::span<const std::byte> bytes) = 0;

  // Runs it in a stream of its own, beside the program's work. Waits at most `patience`: the
  // program's kernels may occupy the whole device, so that ours is never scheduled.
  virtual ToolKernelEnd run(const ToolKernel& kernel, std::chrono::milliseconds patience) = 0;

  // Starts it in a stream of its own, beside the program's work, and waits for nothing. Its code
  // and its stream are kept for the next one. False if it cannot be started.
  virtual bool start(const ToolKernel& kernel) = 0;
  // The context is about to go, and what was kept in it.
  virtual void forget_started(Handle context) = 0;
  // Behind the work that the stream has now the device writes the word, in pinned memory. False if
  // it will not.
  virtual bool write_behind(Handle stream, std::byte* pinned, std::uint32_t word) = 0;

  // Waits for all work of the context, current or not.
  virtual DriverStatus synchronize(Handle context) = 0;
  virtual bool stream_is_capturing(Handle stream) = 0;
  // Behind the work that the stream has now; none if that cannot be had.
  virtual Mark mark(Handle stream) = 0;
  // The work before it is over. Also true after an error; needs no current context.
  virtual bool is_passed(Mark mark) = 0;
  virtual void release_mark(Mark mark) = 0;
  // One that says when it was passed; none if that cannot be had.
  virtual Mark timed_mark(Handle stream) = 0;
  // Of two of these, both passed.
  virtual std::optional<std::uint64_t> nanoseconds_between(Mark begin, Mark end) = 0;
  // By the current device, since some time before the process. None: nobody tells.
  virtual std::optional<std::uint64_t> consumed_millijoules() = 0;
  virtual MemoryKind memory_kind(std::uint64_t address) = 0;
  // A __device__ variable of a loaded module or library.
  virtual std::optional<MemoryRange> variable(Handle module, bool is_library,
                                              const std::string& name) = 0;
};

}  // namespace barracuda::session
