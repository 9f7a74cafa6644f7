// A device whose memory is the process's own, for what the session does with memory and contexts.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/strong_id.h"
#include "session/device_driver.h"

namespace barracuda::session {

class HostMemoryDriver final : public DeviceDriver {
 public:
  std::size_t limit = ~std::size_t{0};                   // bytes that can be had in one piece
  std::uint64_t device_bytes = std::uint64_t{24} << 30;  // in all
  std::uint32_t processors = 132;
  bool emulated = false;
  std::map<std::uint64_t, std::size_t> blocks;  // what is allocated now
  // Stands in for the device; without it no kernel can be run.
  std::function<ToolKernelEnd(const ToolKernel&)> kernel;

  bool is_emulated() const override { return emulated; }

  std::string device_name() const override { return "host memory"; }

  // A driver that the tool did not expect: asking for the architecture, or for memory, throws this.
  std::optional<std::runtime_error> failure;

  std::uint32_t device_arch() const override {
    if (failure) {
      throw *failure;
    }
    return 90;
  }

  DeviceSize size() const override {
    return {
        .multiprocessors = processors, .shared_bytes = 228 * 1024, .memory_bytes = device_bytes};
  }

  Handle current_context() const override { return Handle{1}; }

  std::byte* allocate_pinned(std::size_t bytes) override {
    return reinterpret_cast<std::byte*>(index_of(allocate_device(bytes)));
  }

  void free_pinned(std::byte* memory) override {
    free_device(DevicePointer{reinterpret_cast<std::uint64_t>(memory)});
  }

  DevicePointer allocate_device(std::size_t bytes) override {
    if (failure) {
      throw *failure;
    }
    if (bytes > limit) {
      return {};
    }
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    void* const memory = std::aligned_alloc(256, rounded);
    std::memset(memory, 0, rounded);
    blocks[reinterpret_cast<std::uint64_t>(memory)] = bytes;
    return DevicePointer{reinterpret_cast<std::uint64_t>(memory)};
  }

  void free_device(DevicePointer memory) override {
    blocks.erase(index_of(memory));
    std::free(reinterpret_cast<void*>(index_of(memory)));
  }

  bool clear(Handle /*stream*/, DevicePointer memory, std::size_t bytes) override {
    std::memset(reinterpret_cast<void*>(index_of(memory)), 0, bytes);
    return true;
  }

  bool write(DevicePointer memory, std::span<const std::byte> bytes) override {
    std::memcpy(reinterpret_cast<void*>(index_of(memory)), bytes.data(), bytes.size());
    return true;
  }

  ToolKernelEnd run(const ToolKernel& own, std::chrono::milliseconds /*patience*/) override {
    return kernel ? kernel(own) : ToolKernelEnd::kFailed;
  }

  // Sees what is started beside the program; and the words that were to be written.
  std::function<void(const ToolKernel&)> on_start;
  std::vector<std::pair<std::byte*, std::uint32_t>> written;

  bool start(const ToolKernel& own) override {
    if (on_start) {
      on_start(own);
    }
    return true;
  }

  void forget_started(Handle /*context*/) override {}

  bool write_behind(Handle /*stream*/, std::byte* pinned, std::uint32_t word) override {
    written.emplace_back(pinned, word);
    return true;
  }

  DriverStatus synchronize(Handle /*context*/) override { return 0; }

  std::atomic<std::uint64_t> passed = 0;  // marks up to here
  std::atomic<std::uint64_t> marks = 0;
  std::atomic<std::uint64_t> released = 0;

  Mark mark(Handle /*stream*/) override { return Mark{++marks}; }

  bool is_passed(Mark mark) override { return static_cast<std::uint64_t>(mark) <= passed; }

  void release_mark(Mark /*mark*/) override { ++released; }

  std::uint64_t nanoseconds_apart = 1000;  // one mark and the next
  std::optional<std::uint64_t> millijoules;

  Mark timed_mark(Handle stream) override { return mark(stream); }

  std::optional<std::uint64_t> nanoseconds_between(Mark begin, Mark end) override {
    return (static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin)) *
           nanoseconds_apart;
  }

  std::optional<std::uint64_t> consumed_millijoules() override { return millijoules; }

  bool stream_is_capturing(Handle /*stream*/) override { return false; }

  MemoryKind memory_kind(std::uint64_t /*address*/) override { return MemoryKind::kDevice; }

  std::map<std::pair<Handle, std::string>, MemoryRange> variables;  // of modules

  std::optional<MemoryRange> variable(Handle module, bool /*is_library*/,
                                      const std::string& name) override {
    const auto found = variables.find({module, name});
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace barracuda::session
