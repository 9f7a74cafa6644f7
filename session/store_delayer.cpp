#include "session/store_delayer.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "base/weak_values.h"

namespace barracuda::session {
namespace {

constexpr std::uint64_t kDefaultCapacity = 32, kMostCapacity = 256;
constexpr std::uint64_t kSmallestArena = std::uint64_t{16} << 20;
constexpr std::size_t kDescriptorsPerChunk = 1024;
constexpr double kWhole = 4294967296.0;  // 2^32

}  // namespace

bool rewrites_stores(const Options& options, bool is_emulated) {
  return parse_probability(options.delay_stores).value_or(0) > 0 &&
         (!is_emulated || options.delay_levels == "rewrite");
}

bool rewrites_program(const Options& options, bool is_emulated) {
  return rewrites_stores(options, is_emulated) || is_stressed(options, is_emulated) ||
         !options.execution_log.empty();
}

Expected<std::unique_ptr<StoreDelayer>> StoreDelayer::create(const Options& options,
                                                             DeviceDriver& driver,
                                                             Problems& problems) {
  // The constructor is private: no make_unique.
  std::unique_ptr<StoreDelayer> made(new StoreDelayer(driver, problems));
  if (!options.delay_kernel.empty()) {
    Options named;
    named.kernel_name = options.delay_kernel;
    TRY(made->filter_, KernelFilter::parse(named));
  }
  wire::StoreDelays& delays = made->delays_;
  const auto spaces = parse_spaces(options.delay_spaces).value_or(WeakSpaces{});
  delays.spaces =
      (spaces.global ? wire::kDelaysGlobal : 0) | (spaces.shared ? wire::kDelaysShared : 0);
  delays.threshold =
      static_cast<std::uint64_t>(parse_probability(options.delay_stores).value_or(0) * kWhole);
  delays.seed = options.weak_seed.value_or(options.seed.value_or(1));
  delays.capacity = static_cast<std::uint32_t>(
      std::min(options.delay_capacity.value_or(kDefaultCapacity), kMostCapacity));
  return made;
}

StoreDelayer::Descriptor* StoreDelayer::descriptor(Area& area) {
  std::erase_if(area.in_flight, [&](const InFlight& launch) {
    const bool is_over = launch.over != Mark{} && driver_.is_passed(launch.over);
    if (is_over) {
      driver_.release_mark(launch.over);
      area.free.push_back(launch.descriptor);
    }
    return is_over;
  });
  if (area.free.empty()) {
    std::byte* const chunk = driver_.allocate_pinned(kDescriptorsPerChunk * sizeof(Descriptor));
    if (chunk == nullptr) {
      return nullptr;
    }
    area.chunks.push_back(chunk);
    for (std::size_t i = 0; i < kDescriptorsPerChunk; ++i) {
      area.free.push_back(new (chunk + i * sizeof(Descriptor)) Descriptor);
    }
  }
  Descriptor* const taken = area.free.back();
  area.free.pop_back();
  return taken;
}

const StoreDelayer::Arena& StoreDelayer::arena(Area& area, detector::StreamKey stream,
                                               std::uint64_t wanted) {
  Arena& known = area.arenas[stream];
  const std::uint64_t left = wire::kMaximumArenaBytes - area.bytes;
  std::uint64_t bytes = std::min(std::max(std::bit_ceil(wanted), kSmallestArena), left);
  for (; known.bytes < wanted && bytes > known.bytes && bytes != 0; bytes /= 2) {
    if (const DevicePointer memory = driver_.allocate_device(bytes); memory != DevicePointer{}) {
      if (known.memory != DevicePointer{}) {
        area.outgrown.push_back(known);  // launches may still use it
      }
      known = {.memory = memory, .bytes = bytes};
      area.bytes += bytes;
      break;
    }
  }
  return known;
}

const wire::LaunchDescriptor* StoreDelayer::begin(const std::string& kernel,
                                                  const detector::Dim3& grid,
                                                  const detector::Dim3& block,
                                                  detector::StreamKey stream,
                                                  const wire::StressedLaunch* stressed) {
  ++launches_;
  Area& area = areas_[driver_.current_context()];
  const wire::StoreDelays delays = delays_of(area, kernel, grid, block, stream);
  Descriptor* const taken = delays.arena == 0 && stressed == nullptr ? nullptr : descriptor(area);
  if (taken == nullptr) {
    return nullptr;
  }
  taken->launch = wire::LaunchDescriptor{};
  taken->launch.store_delays = delays;
  if (stressed != nullptr) {
    taken->stressed = *stressed;
    taken->launch.stressed = reinterpret_cast<std::uint64_t>(&taken->stressed);
  }
  return &taken->launch;
}

wire::StoreDelays StoreDelayer::delays_of(Area& area, const std::string& kernel,
                                          const detector::Dim3& grid, const detector::Dim3& block,
                                          detector::StreamKey stream) {
  const std::uint64_t per_block = block.volume() * wire::store_buffer_bytes(delays_.capacity);
  const std::uint64_t blocks = grid.volume();
  if (delays_.threshold == 0 || !filter_.matches(kernel) || per_block == 0) {
    return {};
  }
  const std::uint64_t most = wire::kMaximumArenaBytes / per_block;
  const Arena& memory = arena(area, stream, std::min(blocks, most) * per_block);
  const std::uint64_t held = std::min(memory.bytes / per_block, blocks);
  if (held < blocks) {
    problems_.add(
        fmt::format("kernel {}: {} of {} blocks ran without delayed stores: there is no "
                    "memory for their buffers",
                    kernel, blocks - held, blocks));
  }
  if (held == 0) {
    return {};
  }
  wire::StoreDelays delays = delays_;
  delays.arena = index_of(memory.memory);
  delays.launch = static_cast<std::uint32_t>(launches_);
  delays.blocks = static_cast<std::uint32_t>(held);
  return delays;
}

void StoreDelayer::submitted(const wire::LaunchDescriptor* descriptor, Handle stream) {
  Area& area = areas_[driver_.current_context()];
  // Of this area alone; the driver's call has read it or will when the launch begins.
  auto* const launched = const_cast<wire::LaunchDescriptor*>(descriptor);           // NOLINT
  area.in_flight.push_back({.descriptor = reinterpret_cast<Descriptor*>(launched),  // NOLINT
                            .over = driver_.mark(stream)});
}

void StoreDelayer::close(Handle context) {
  const auto found = areas_.find(context);
  if (found == areas_.end()) {
    return;
  }
  Area& area = found->second;
  for (const InFlight& launch : area.in_flight) {
    if (launch.over != Mark{}) {
      driver_.release_mark(launch.over);
    }
  }
  for (const auto& [stream, arena] : area.arenas) {
    area.outgrown.push_back(arena);
  }
  for (const Arena& arena : area.outgrown) {
    if (arena.memory != DevicePointer{}) {
      driver_.free_device(arena.memory);
    }
  }
  for (std::byte* const chunk : area.chunks) {
    driver_.free_pinned(chunk);
  }
  areas_.erase(found);
}

}  // namespace barracuda::session
