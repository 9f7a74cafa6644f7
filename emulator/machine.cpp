#include "emulator/machine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "emulator/decode/loaded_module.h"
#include "emulator/execute/control.h"
#include "emulator/schedules/deadlock.h"
#include "emulator/schedules/schedule.h"
#include "emulator/state/cluster.h"
#include "emulator/state/launch.h"
#include "emulator/state/weak_state.h"
#include "ptx/parse.h"

namespace barracuda::emulator {

struct Machine::State {
  MachineOptions options;
  Memory memory;
  TextureTable textures;
  std::atomic<std::uint64_t> warp_instructions{0};
  std::atomic<std::uint64_t> launches{0};
};

namespace {

constexpr std::uint64_t kMaximumThreads = 1024;
constexpr std::uint64_t kGridWorkspaceBytes = 256;

DeviceError refusal(std::string message) {
  DeviceError error;
  error.code = DeviceErrorCode::kIllegalInstruction;
  error.message = std::move(message);
  return error;
}

// The shape that the kernel requires, where the launch has none.
void complete_shape(const ptx::Function& function, LaunchConfig& config) {
  if (config.cluster.volume() != 1) {
    return;
  }
  if (const auto required = function.bounds.required_cluster) {
    config.cluster = Dim3{.x = required->x, .y = required->y, .z = required->z};
  }
}

DeviceError check(const LoadedKernel& kernel, const LaunchConfig& config) {
  const std::uint64_t threads = config.block.volume();
  if (threads == 0 || threads > kMaximumThreads || config.grid.volume() == 0) {
    return refusal(fmt::format("kernel {} cannot be launched with {} blocks of {} threads",
                               kernel.function().name, config.grid.volume(), threads));
  }
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  const std::uint64_t blocks = cluster.volume();
  if (blocks == 0 || blocks > kMaximumClusterBlocks || grid.x % cluster.x != 0 ||
      grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return refusal(fmt::format(
        "kernel {}: a grid of {}x{}x{} blocks cannot have clusters of {}x{}x{}",
        kernel.function().name, grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
  }
  const std::uint64_t shared =
      std::uint64_t{kernel.program().static_shared_bytes} + config.dynamic_shared_bytes;
  if (reserved_shared_offset(static_cast<std::uint32_t>(shared)) + kReservedSharedBytes >
      kClusterShare) {
    return refusal(fmt::format("kernel {} cannot be launched with {} bytes of shared memory",
                               kernel.function().name, shared));
  }
  return {};
}

// The parameters as a kernel sees them: as many bytes as it declares, and as aligned as it may
// want them, for they have generic addresses.
struct ParameterBuffer {
  struct alignas(128) Line {
    std::array<std::byte, 128> bytes{};
  };

  explicit ParameterBuffer(std::size_t bytes) : lines(bytes / sizeof(Line) + 2) {}

  [[nodiscard]] std::byte* data() { return lines.front().bytes.data(); }

  std::vector<Line> lines;
};

void deliver_output(const MachineOptions& options, const std::string& output) {
  if (output.empty()) {
    return;
  }
  if (options.print) {
    options.print(output);
    return;
  }
  std::fwrite(output.data(), 1, output.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Machine::Machine(const MachineOptions& options) : state_(std::make_unique<State>()) {
  state_->options = options;
  if (options.weakness && !options.seed) {
    state_->options.seed = 1;
  }
}

Machine::~Machine() = default;

Memory& Machine::memory() {
  return state_->memory;
}

TextureTable& Machine::textures() {
  return state_->textures;
}

Expected<std::shared_ptr<LoadedModule>> Machine::load(std::string ptx) {
  TRY(ptx::Module module, ptx::parse(std::move(ptx)));
  return load(std::make_shared<const ptx::Module>(std::move(module)));
}

Expected<std::shared_ptr<LoadedModule>> Machine::load(std::shared_ptr<const ptx::Module> module) {
  auto loaded = std::make_shared<LoadedModule>(
      std::move(module), state_->memory, state_->options.native_functions,
      state_->options.weakness ? &*state_->options.weakness : nullptr);
  if (auto placed = loaded->place_variables(); !placed) {
    return unexpected(std::move(placed).error());
  }
  loaded->find_kernels();
  return loaded;
}

const LoadedKernel* Machine::find_kernel(const LoadedModule& module, std::string_view name) {
  for (const auto& kernel : module.kernels()) {
    if (kernel->function().name == name) {
      return kernel.get();
    }
  }
  return nullptr;
}

std::optional<GlobalVariable> Machine::find_variable(const LoadedModule& module,
                                                     std::string_view name) {
  const GlobalVariable* variable = module.variable(name);
  return variable == nullptr ? std::nullopt : std::optional(*variable);
}

KernelAttributes Machine::attributes(const LoadedKernel& kernel) {
  const Program& program = kernel.program();
  KernelAttributes attributes;
  attributes.static_shared_bytes = program.static_shared_bytes;
  attributes.parameter_bytes = program.parameter_bytes;
  attributes.const_bytes = kernel.module().const_bytes();
  attributes.ptx_arch = kernel.module().module().target_arch();
  for (const auto& function : program.functions) {
    attributes.local_bytes += function->local_bytes;
  }
  // 128 bytes of ours are one 32-bit register of a warp; registers share them as a compiler's do.
  attributes.registers =
      std::clamp<std::uint32_t>(program.functions.front()->register_bytes / 128, 16, 255);
  const ptx::LaunchBounds& bounds = kernel.function().bounds;
  const auto& block = bounds.max_block ? bounds.max_block : bounds.required_block;
  attributes.max_threads = static_cast<std::uint32_t>(
      block ? std::min(block->volume(), kMaximumThreads) : kMaximumThreads);
  return attributes;
}

std::vector<Refusal> Machine::refusals(const LoadedKernel& kernel) {
  const Program& program = kernel.program();
  std::vector<Refusal> refusals;
  for (const auto& function : program.functions) {
    for (const Instruction& instruction : function->code) {
      if (instruction.handler == &execute_unsupported) {
        const InstructionText& text = program.text_of(instruction);
        refusals.push_back(Refusal{.ptx_line = text.line,
                                   .text = std::string(text.text),
                                   .reason = *static_cast<const std::string*>(instruction.extra)});
      }
    }
  }
  std::ranges::stable_sort(refusals, {}, &Refusal::ptx_line);
  return refusals;
}

struct RunningLaunch::State {
  State(Machine::State& the_machine, const LoadedKernel& kernel, const LaunchConfig& config,
        std::span<const std::byte> parameters)
      : machine(the_machine),
        buffer(kernel.program().parameter_bytes),
        launch(kernel.program(), config, machine.memory, machine.textures, kernel.frames()) {
    const MachineOptions& options = machine.options;
    std::copy_n(parameters.data(), std::min(parameters.size(), buffer_bytes()), buffer.data());
    launch.parameters = buffer.data();
    launch.grid_id = ++machine.launches;
    launch.is_seeded = options.seed.has_value();
    launch.is_reversed = options.is_reversed;
    launch.mixes_member_masks = options.mixes_member_masks;
    launch.timeout_ms = options.launch_timeout_ms;
    launch.deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options.launch_timeout_ms);
    if (options.weakness) {
      launch.weak = &weak.emplace(*options.weakness, launch);
    }
    schedule = options.seed ? make_seeded_schedule(launch, *options.seed + launch.grid_id)
                            : make_workers_schedule(launch, workers());
  }

  [[nodiscard]] std::size_t buffer_bytes() const { return launch.program.parameter_bytes; }

  [[nodiscard]] std::uint32_t workers() const {
    const MachineOptions& options = machine.options;
    const std::uint32_t cores = options.is_reversed ? 1
                                : options.workers != 0
                                    ? options.workers
                                    : std::max(1U, std::thread::hardware_concurrency());
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(cores, launch.config.grid.volume()));
  }

  Machine::State& machine;
  ParameterBuffer buffer;
  Launch launch;
  std::optional<WeakState> weak;
  std::unique_ptr<Schedule> schedule;
};

RunningLaunch::RunningLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}

RunningLaunch::~RunningLaunch() = default;

RunResult RunningLaunch::run(const RunLimit& limit) {
  return state_->schedule->run(limit);
}

bool RunningLaunch::is_woken() const {
  return state_->schedule->is_outdated();
}

void RunningLaunch::end(DeviceErrorCode code, const std::string& why) {
  end_where_it_stands(state_->launch, state_->schedule->stands(), code,
                      {.what = why, .sentence = why});
}

DeviceError RunningLaunch::finish() {
  Launch& launch = state_->launch;
  const MachineOptions& options = state_->machine.options;
  state_->schedule.reset();
  if (launch.weak != nullptr) {
    launch.weak->end_launch(launch.stop.load());
  }
  if (launch.grid_workspace != 0) {
    state_->machine.memory.release(launch.grid_workspace);
  }
  state_->machine.warp_instructions.fetch_add(launch.warp_instructions.load());
  if (options.executed) {
    options.executed(
        {.warp_instructions = launch.warp_instructions.load(), .fences = launch.fences.load()});
  }
  deliver_output(options, launch.take_output());
  DeviceError error = launch.error();
  if (error.code == DeviceErrorCode::kAssert) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
  }
  return error;
}

std::unique_ptr<RunningLaunch> Machine::begin(const LoadedKernel& kernel,
                                              const LaunchConfig& wanted,
                                              std::span<const std::byte> parameters,
                                              DeviceError& error) {
  LaunchConfig config = wanted;
  complete_shape(kernel.function(), config);
  error = check(kernel, config);
  if (error.code != DeviceErrorCode::kNone) {
    return nullptr;
  }
  std::uint64_t workspace = 0;
  if (config.cooperative) {
    auto allocated = state_->memory.allocate(kGridWorkspaceBytes, AllocationKind::kModule);
    if (!allocated) {
      error = refusal(allocated.error().message);
      return nullptr;
    }
    workspace = *allocated;
  }
  auto state = std::make_unique<RunningLaunch::State>(*state_, kernel, config, parameters);
  state->launch.grid_workspace = workspace;
  return std::unique_ptr<RunningLaunch>(new RunningLaunch(std::move(state)));
}

DeviceError Machine::launch(const LoadedKernel& kernel, const LaunchConfig& config,
                            std::span<const std::byte> parameters) {
  DeviceError error;
  const std::unique_ptr<RunningLaunch> launch = begin(kernel, config, parameters, error);
  if (launch == nullptr) {
    return error;
  }
  while (launch->run({.polls_on = true}) != RunResult::kEnded) {
  }
  return launch->finish();
}

std::uint64_t Machine::warp_instructions() const {
  return state_->warp_instructions.load();
}

}  // namespace barracuda::emulator
