// What all workers of one launch share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "emulator/machine.h"
#include "emulator/state/program.h"

namespace barracuda::emulator {

class FrameStore;
class WeakState;

struct Launch {
  Launch(const Program& the_program, const LaunchConfig& the_config, Memory& its_memory,
         const TextureTable& its_textures, FrameStore& its_frames)
      : program(the_program),
        config(the_config),
        memory(its_memory),
        textures(its_textures),
        frames(its_frames) {}

  const Program& program;
  LaunchConfig config;
  Memory& memory;
  const TextureTable& textures;
  FrameStore& frames;
  const std::byte* parameters = nullptr;  // Program::parameter_bytes of them
  std::uint64_t grid_workspace = 0;       // address for %envreg1/2; 0: not cooperative
  std::uint64_t grid_id = 0;
  bool is_seeded = false;
  WeakState* weak = nullptr;  // null: memory is as strong as the host's
  bool is_reversed = false;   // the last block and the last warp come first
  bool mixes_member_masks = false;
  std::uint64_t timeout_ms = 0;
  std::chrono::steady_clock::time_point deadline;

  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> warp_instructions{0};
  std::atomic<std::uint64_t> fences{0};  // of these, where memory is as strong as the host's

  // The first failure wins.
  void fail(DeviceError error);
  [[nodiscard]] DeviceError error();
  // printf output, in order of the calls.
  void print(std::string_view text);
  [[nodiscard]] std::string take_output();

 private:
  std::mutex mutex_;
  DeviceError error_;
  std::string output_;
};

}  // namespace barracuda::emulator
