// A CUDA device in software: memory, loaded PTX modules, launches. Knows nothing of races or of the
// CUDA API (libcuda/ and libcudart/ are over this). One warp instruction is executed for 32
// lanes at a time. Thread-safe except where said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "emulator/dim3.h"
#include "emulator/execution_counts.h"
#include "emulator/memory.h"
#include "emulator/native_function.h"
#include "emulator/texture.h"
#include "emulator/weakness.h"
#include "ptx/module.h"

namespace barracuda::emulator {

// What %nsmid and %nwarpid say, and device properties should.
inline constexpr std::uint32_t kMultiprocessors = 16;
inline constexpr std::uint32_t kMaximumWarpsPerMultiprocessor = 64;

struct MachineOptions {
  // With a seed, CTAs and warps are interleaved as a pure function of it, on one host thread.
  std::optional<std::uint64_t> seed;
  // Without one: the last CTA and the last warp come first, on one host thread.
  bool is_reversed = false;
  // Lanes that run as one exchange values as one, whatever member masks they name: as a GPU has it,
  // of which code that is called from several places must not depend.
  bool mixes_member_masks = false;
  std::uint32_t workers = 0;            // host threads for CTAs; 0: all cores
  std::uint64_t launch_timeout_ms = 0;  // 0: none
  // Gets what kernels print, when a launch has ended, before launch() returns. Null: stdout.
  std::function<void(std::string_view)> print;
  // Executed in place of the functions of these names in every module; must outlive the machine.
  std::span<const NativeFunction> native_functions;
  // With it stores are delayed and loads stale; the schedule is the seeded one then, its seed 1 if
  // none is given.
  std::optional<Weakness> weakness;
  // Gets what each launch has executed, at its end. May be null.
  std::function<void(const ExecutionCounts&)> executed;
};

enum class DeviceErrorCode : std::uint8_t {
  kNone,
  kIllegalAddress,      // CUDA_ERROR_ILLEGAL_ADDRESS 700
  kMisalignedAddress,   // 716
  kAssert,              // 710
  kTrap,                // CUDA_ERROR_LAUNCH_FAILED 719: trap, brkpt
  kIllegalInstruction,  // 715: an instruction the emulator cannot execute
  kInvalidPc,           // 718: an indirect call to what is no function
  kStackOverflow,       // 719
  kTimeout,             // 702
  kDeadlock,            // 702, every thread waits
  kUnended,             // 702, the program ended before it
};

// Where lanes of a warp were when their launch was ended.
struct Standing {
  Dim3 block, thread;  // the first of them
  std::string function;
  std::uint32_t ptx_line = 0;
  bool waits = false;
};

// How a launch ended, and where if it failed.
struct DeviceError {
  DeviceErrorCode code = DeviceErrorCode::kNone;
  std::string message;  // names instruction, PTX line, thread, address
  std::string what;  // "an out-of-bounds write of 4 bytes at 0x…": for who knows the rest by itself
  std::string function;
  std::uint32_t ptx_line = 0;  // in the loaded text
  std::uint64_t address = 0;
  std::uint32_t access_bytes = 0;
  bool is_write = false;
  Dim3 block, thread;
  std::vector<Standing> standing;  // of a launch that did not end by itself, some groups of lanes
};

struct LaunchConfig {
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // all CTAs resident; %envreg1/2 hold a grid-sync workspace
};

// How far a launch is run at once.
struct RunLimit {
  std::uint64_t work = ~std::uint64_t{0};  // warp instructions, and what polls count besides
  // Threads that only poll are run on: they may count their tries.
  bool polls_on = false;
};

enum class RunResult : std::uint8_t {
  kEnded,
  kPolling,  // its threads do nothing but read what somebody else has to change
  kPaused,   // the limit is reached
};

struct KernelAttributes {
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t const_bytes = 0;
  std::uint32_t registers = 0;       // a plausible number; the emulator has as many as it takes
  std::uint32_t max_threads = 1024;  // .maxntid
  std::uint32_t parameter_bytes = 0;
  std::uint32_t ptx_arch = 0;  // 75: the module's .target is sm_75
};

// An instruction that cannot be executed: a kernel that reaches it ends with an error.
struct Refusal {
  std::uint32_t ptx_line = 0;
  std::string text;
  std::string reason;
};

class LoadedModule;
class LoadedKernel;

// A launch that is run in pieces. One host thread at a time runs it; the machine, the kernel and
// its module must outlive it.
class RunningLaunch {
 public:
  ~RunningLaunch();
  RunningLaunch(const RunningLaunch&) = delete;
  RunningLaunch& operator=(const RunningLaunch&) = delete;

  RunResult run(const RunLimit& limit);
  // After kPolling: something that its threads poll has changed.
  [[nodiscard]] bool is_woken() const;
  // Ends it where it stands, with what that is worth as an error. Its threads are named there.
  void end(DeviceErrorCode code, const std::string& why);
  // After kEnded or end(), once: says how it ended, and delivers what it printed.
  DeviceError finish();

 private:
  friend class Machine;
  struct State;
  explicit RunningLaunch(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

struct GlobalVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

class Machine {
 public:
  explicit Machine(const MachineOptions& options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Memory& memory();
  TextureTable& textures();

  // Decodes the module, places its variables. Instructions that cannot be executed are an error
  // only when a kernel reaches them. The module must outlive its launches; destroying it frees its
  // variables.
  Expected<std::shared_ptr<LoadedModule>> load(std::shared_ptr<const ptx::Module> module);
  Expected<std::shared_ptr<LoadedModule>> load(std::string ptx);
  static const LoadedKernel* find_kernel(const LoadedModule& module, std::string_view name);
  static std::optional<GlobalVariable> find_variable(const LoadedModule& module,
                                                     std::string_view name);
  static KernelAttributes attributes(const LoadedKernel& kernel);
  // Of the kernel and of all functions that it may call, in the order of the text.
  static std::vector<Refusal> refusals(const LoadedKernel& kernel);

  // Runs the grid to its end and says how it ended. `parameters` is the packed parameter buffer.
  DeviceError launch(const LoadedKernel& kernel, const LaunchConfig& config,
                     std::span<const std::byte> parameters);
  // The same in pieces, which are the caller's. Null, with the error set: it cannot be launched.
  std::unique_ptr<RunningLaunch> begin(const LoadedKernel& kernel, const LaunchConfig& config,
                                       std::span<const std::byte> parameters, DeviceError& error);

  // Warp instructions executed so far, over all launches.
  [[nodiscard]] std::uint64_t warp_instructions() const;

 private:
  friend class RunningLaunch;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::emulator
