#include "preload/unhooked_driver.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/strong_id.h"
#include "preload/energy_meter.h"
#include "preload/hook.h"
#include "preload/pinned_memory.h"

namespace barracuda::preload {
namespace {

using session::DevicePointer;
using session::DriverStatus;
using session::Handle;
using session::Mark;
using session::MemoryRange;
using session::ToolKernel;
using session::ToolKernelEnd;

// A thread that captures a stream in the global mode may not allocate or synchronise; our own calls
// must not end the program's capture.
class RelaxedCapture {
 public:
  RelaxedCapture() { exchange(mode_); }

  ~RelaxedCapture() { exchange(mode_); }

  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  static void exchange(CUstreamCaptureMode& mode) {
    static const auto call = DRIVER_FUNCTION(cuThreadExchangeStreamCaptureMode);
    call(&mode);
  }

  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// The session knows handles as numbers.
// NOLINTBEGIN(performance-no-int-to-ptr)
class UnhookedDriver final : public session::DeviceDriver {
 public:
  bool is_emulated() const override { return device_choice() == DeviceChoice::kEmulated; }

  std::string device_name() const override {
    if (is_emulated()) {
      const std::uint64_t wanted = process_options().workers;
      const bool seeded = process_options().seed.has_value();
      const std::uint64_t workers = seeded ? 1
                                    : wanted == 0
                                        ? std::max(1U, std::thread::hardware_concurrency())
                                        : wanted;
      return "emulated device (" + std::to_string(workers) +
             (workers == 1 ? " worker)" : " workers)");
    }
    char name[256] = {};
    return device_get_name_(name, sizeof name - 1, current_device()) == CUDA_SUCCESS
               ? name
               : "unknown GPU";
  }

  std::uint32_t device_arch() const override {
    return attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }

  session::DeviceSize size() const override {
    std::size_t free = 0, total = 0;
    return {.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            .shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
            .memory_bytes = memory_info_(&free, &total) == CUDA_SUCCESS ? total : 0};
  }

  Handle current_context() const override {
    CUcontext context = nullptr;
    return context_get_current_(&context) == CUDA_SUCCESS ? handle_of(context) : Handle{};
  }

  std::byte* allocate_pinned(std::size_t bytes) override {
    const RelaxedCapture relaxed;
    return pinned_.allocate(bytes, !is_emulated());
  }

  void free_pinned(std::byte* memory) override {
    const RelaxedCapture relaxed;
    pinned_.free(memory);
  }

  // Not through the default stream, which would wait for the program's work.
  DevicePointer allocate_device(std::size_t bytes) override {
    const RelaxedCapture relaxed;
    CUdeviceptr memory = 0;
    if (!leaves_enough(bytes) || allocate_(&memory, bytes) != CUDA_SUCCESS) {
      return {};
    }
    CUstream stream = nullptr;
    bool zeroed = stream_create_(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    if (zeroed) {
      zeroed = set_async_(memory, 0, bytes, stream) == CUDA_SUCCESS &&
               stream_synchronize_(stream) == CUDA_SUCCESS;
      stream_destroy_(stream);
    }
    if (!zeroed) {
      free_(memory);
      return {};
    }
    return DevicePointer{memory};
  }

  void free_device(DevicePointer memory) override {
    const RelaxedCapture relaxed;
    free_(index_of(memory));
  }

  bool clear(Handle stream, DevicePointer memory, std::size_t bytes) override {
    const RelaxedCapture relaxed;
    return set_async_(index_of(memory), 0, bytes, reinterpret_cast<CUstream>(stream)) ==
           CUDA_SUCCESS;
  }

  bool write(DevicePointer memory, std::span<const std::byte> bytes) override {
    const RelaxedCapture relaxed;
    CUstream stream = nullptr;
    if (stream_create_(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
      return false;
    }
    const bool written =
        copy_async_(index_of(memory), bytes.data(), bytes.size(), stream) == CUDA_SUCCESS &&
        stream_synchronize_(stream) == CUDA_SUCCESS;
    stream_destroy_(stream);
    return written;
  }

  ToolKernelEnd run(const ToolKernel& kernel, std::chrono::milliseconds patience) override {
    const RelaxedCapture relaxed;
    CUmodule module = nullptr;
    if (module_load_(&module, kernel.ptx) != CUDA_SUCCESS) {
      return ToolKernelEnd::kFailed;
    }
    CUfunction function = nullptr;
    CUstream stream = nullptr;
    const bool is_ready = module_get_function_(&function, module, kernel.name) == CUDA_SUCCESS &&
                          stream_create_(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    ToolKernelEnd end = ToolKernelEnd::kFailed;
    if (is_ready && launch_(function, kernel.blocks, 1, 1, kernel.threads, 1, 1, 0, stream,
                            kernel.arguments.data(), nullptr) == CUDA_SUCCESS) {
      end = wait_for(stream, patience);
    }
    if (end == ToolKernelEnd::kStillRunning) {
      return end;
    }
    if (stream != nullptr) {
      stream_destroy_(stream);
    }
    module_unload_(module);
    return end;
  }

  bool start(const ToolKernel& kernel) override {
    const RelaxedCapture relaxed;
    const std::lock_guard lock(started_mutex_);
    Started& started = started_[{current_context(), kernel.ptx}];
    if (!started.is_tried) {
      started.is_tried = true;
      CUmodule module = nullptr;
      const bool is_ready =
          module_load_(&module, kernel.ptx) == CUDA_SUCCESS &&
          module_get_function_(&started.function, module, kernel.name) == CUDA_SUCCESS &&
          stream_create_(&started.stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
      started.function = is_ready ? started.function : nullptr;
    }
    return started.function != nullptr &&
           launch_(started.function, kernel.blocks, 1, 1, kernel.threads, 1, 1, 0, started.stream,
                   kernel.arguments.data(), nullptr) == CUDA_SUCCESS;
  }

  void forget_started(Handle context) override {
    const std::lock_guard lock(started_mutex_);
    std::erase_if(started_, [context](const auto& each) { return each.first.first == context; });
  }

  bool write_behind(Handle stream, std::byte* pinned, std::uint32_t word) override {
    const RelaxedCapture relaxed;
    return stream_write_(reinterpret_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(pinned),
                         word, 0) == CUDA_SUCCESS;
  }

  DriverStatus synchronize(Handle context) override {
    const RelaxedCapture relaxed;
    if (context == current_context()) {
      return context_synchronize_();
    }
    const DriverStatus pushed = context_push_(reinterpret_cast<CUcontext>(context));
    if (pushed != CUDA_SUCCESS) {
      return pushed;
    }
    const DriverStatus status = context_synchronize_();
    CUcontext popped = nullptr;
    context_pop_(&popped);
    return status;
  }

  bool stream_is_capturing(Handle stream) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return stream_is_capturing_(reinterpret_cast<CUstream>(stream), &status) == CUDA_SUCCESS &&
           status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  }

  Mark mark(Handle stream) override { return recorded_event(stream, CU_EVENT_DISABLE_TIMING); }

  Mark timed_mark(Handle stream) override { return recorded_event(stream, CU_EVENT_DEFAULT); }

  std::optional<std::uint64_t> nanoseconds_between(Mark begin, Mark end) override {
    constexpr float kNanoseconds = 1'000'000;
    float milliseconds = 0;
    if (event_elapsed_(&milliseconds, reinterpret_cast<CUevent>(begin),
                       reinterpret_cast<CUevent>(end)) != CUDA_SUCCESS) {
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(milliseconds * kNanoseconds);
  }

  std::optional<std::uint64_t> consumed_millijoules() override {
    char bus[32] = {};
    return is_emulated() || device_get_bus_(bus, sizeof bus - 1, current_device()) != CUDA_SUCCESS
               ? std::nullopt
               : preload::consumed_millijoules(bus);
  }

  bool is_passed(Mark mark) override {
    DEBUG_ASSERT(mark != Mark{});
    return event_query_(reinterpret_cast<CUevent>(mark)) != CUDA_ERROR_NOT_READY;
  }

  void release_mark(Mark mark) override {
    DEBUG_ASSERT(mark != Mark{});
    const RelaxedCapture relaxed;
    event_destroy_(reinterpret_cast<CUevent>(mark));
  }

  session::MemoryKind memory_kind(std::uint64_t address) override {
    // Unlike the call for one attribute, this one has no error for memory that CUDA does not know.
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_IS_MANAGED};
    unsigned type = 0;
    unsigned managed = 0;
    void* answers[] = {&type, &managed};
    if (pointer_get_attributes_(2, wanted, answers, address) != CUDA_SUCCESS) {
      return session::MemoryKind::kPageable;
    }
    return (managed & 0xffU) != 0         ? session::MemoryKind::kManaged
           : type == CU_MEMORYTYPE_HOST   ? session::MemoryKind::kPinned
           : type == CU_MEMORYTYPE_DEVICE ? session::MemoryKind::kDevice
                                          : session::MemoryKind::kPageable;
  }

  std::optional<MemoryRange> variable(Handle module, bool is_library,
                                      const std::string& name) override {
    const RelaxedCapture relaxed;
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    CUresult status = CUDA_ERROR_NOT_FOUND;
    if (is_library) {
      auto* const library = reinterpret_cast<CUlibrary>(module);
      status = library_get_global_(&address, &bytes, library, name.c_str());
      if (status != CUDA_SUCCESS) {
        status = library_get_managed_(&address, &bytes, library, name.c_str());
      }
    } else {
      status =
          module_get_global_(&address, &bytes, reinterpret_cast<CUmodule>(module), name.c_str());
    }
    if (status != CUDA_SUCCESS) {
      return std::nullopt;
    }
    return MemoryRange{.address = address, .bytes = bytes};
  }

 private:
  // Of start(), by context and code. Its context destroys it.
  struct Started {
    CUfunction function = nullptr;
    CUstream stream = nullptr;
    bool is_tried = false;
  };

  // Not by a synchronising call: there is none that gives up.
  ToolKernelEnd wait_for(CUstream stream, std::chrono::milliseconds patience) const {
    constexpr std::chrono::microseconds kPollEvery{100};
    const auto deadline = std::chrono::steady_clock::now() + patience;
    CUresult status = stream_query_(stream);
    while (status == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPollEvery);
      status = stream_query_(stream);
    }
    return status == CUDA_SUCCESS           ? ToolKernelEnd::kDone
           : status == CUDA_ERROR_NOT_READY ? ToolKernelEnd::kStillRunning
                                            : ToolKernelEnd::kFailed;
  }

  Mark recorded_event(Handle stream, unsigned flags) const {
    const RelaxedCapture relaxed;
    CUevent event = nullptr;
    if (event_create_(&event, flags) != CUDA_SUCCESS) {
      return {};
    }
    if (event_record_(event, reinterpret_cast<CUstream>(stream)) != CUDA_SUCCESS) {
      event_destroy_(event);
      return {};
    }
    return Mark{reinterpret_cast<std::uint64_t>(event)};
  }

  CUdevice current_device() const {
    CUdevice device = 0;
    return context_get_device_(&device) == CUDA_SUCCESS ? device : 0;
  }

  std::uint32_t attribute(CUdevice_attribute which) const {
    int value = 0;
    return device_get_attribute_(&value, which, current_device()) == CUDA_SUCCESS
               ? static_cast<std::uint32_t>(value)
               : 0;
  }

  // For the program, which may want all that is free: a large piece is at most a quarter of it.
  [[nodiscard]] bool leaves_enough(std::size_t bytes) const {
    constexpr std::size_t kSmall = std::size_t{16} << 20;
    std::size_t free = 0, total = 0;
    return bytes <= kSmall || memory_info_(&free, &total) != CUDA_SUCCESS || bytes <= free / 4;
  }

  PinnedMemory pinned_;
  std::mutex started_mutex_;
  std::map<std::pair<Handle, const char*>, Started> started_;
  Original<decltype(::cuStreamWriteValue32_v2)> stream_write_{"cuStreamWriteValue32_v2"};
  Original<decltype(::cuDeviceGetName)> device_get_name_{"cuDeviceGetName"};
  Original<decltype(::cuDeviceGetAttribute)> device_get_attribute_{"cuDeviceGetAttribute"};
  Original<decltype(::cuCtxGetDevice)> context_get_device_{"cuCtxGetDevice"};
  Original<decltype(::cuCtxGetCurrent)> context_get_current_{"cuCtxGetCurrent"};
  Original<decltype(::cuCtxPushCurrent_v2)> context_push_{"cuCtxPushCurrent_v2"};
  Original<decltype(::cuCtxPopCurrent_v2)> context_pop_{"cuCtxPopCurrent_v2"};
  Original<decltype(::cuCtxSynchronize)> context_synchronize_{"cuCtxSynchronize"};
  Original<decltype(::cuMemGetInfo_v2)> memory_info_{"cuMemGetInfo_v2"};
  Original<decltype(::cuMemAlloc_v2)> allocate_{"cuMemAlloc_v2"};
  Original<decltype(::cuMemFree_v2)> free_{"cuMemFree_v2"};
  Original<decltype(::cuMemsetD8Async)> set_async_{"cuMemsetD8Async"};
  Original<decltype(::cuMemcpyHtoDAsync_v2)> copy_async_{"cuMemcpyHtoDAsync_v2"};
  Original<decltype(::cuModuleLoadData)> module_load_{"cuModuleLoadData"};
  Original<decltype(::cuModuleUnload)> module_unload_{"cuModuleUnload"};
  Original<decltype(::cuModuleGetFunction)> module_get_function_{"cuModuleGetFunction"};
  Original<decltype(::cuLaunchKernel)> launch_{"cuLaunchKernel"};
  Original<decltype(::cuStreamCreate)> stream_create_{"cuStreamCreate"};
  Original<decltype(::cuStreamDestroy_v2)> stream_destroy_{"cuStreamDestroy_v2"};
  Original<decltype(::cuStreamSynchronize)> stream_synchronize_{"cuStreamSynchronize"};
  Original<decltype(::cuEventCreate)> event_create_{"cuEventCreate"};
  Original<decltype(::cuEventRecord)> event_record_{"cuEventRecord"};
  Original<decltype(::cuEventQuery)> event_query_{"cuEventQuery"};
  Original<decltype(::cuEventElapsedTime)> event_elapsed_{"cuEventElapsedTime"};
  Original<decltype(::cuDeviceGetPCIBusId)> device_get_bus_{"cuDeviceGetPCIBusId"};
  Original<decltype(::cuEventDestroy_v2)> event_destroy_{"cuEventDestroy_v2"};
  Original<decltype(::cuStreamQuery)> stream_query_{"cuStreamQuery"};
  Original<decltype(::cuStreamIsCapturing)> stream_is_capturing_{"cuStreamIsCapturing"};
  Original<decltype(::cuLibraryGetGlobal)> library_get_global_{"cuLibraryGetGlobal"};
  Original<decltype(::cuLibraryGetManaged)> library_get_managed_{"cuLibraryGetManaged"};
  Original<decltype(::cuPointerGetAttributes)> pointer_get_attributes_{"cuPointerGetAttributes"};
  Original<decltype(::cuModuleGetGlobal_v2)> module_get_global_{"cuModuleGetGlobal_v2"};
};

// NOLINTEND(performance-no-int-to-ptr)

}  // namespace

std::unique_ptr<session::DeviceDriver> make_unhooked_driver() {
  return std::make_unique<UnhookedDriver>();
}

}  // namespace barracuda::preload
