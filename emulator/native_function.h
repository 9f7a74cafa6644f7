// A function that the host executes in place of its PTX, for all lanes of a warp that call it
// together. Whoever gives one to a machine vouches that it does what the PTX does; it must neither
// block nor keep anything of the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace barracuda::emulator {

struct Context;
struct TextureView;

// An argument or the result of a call, for each lane.
struct LaneValues {
  std::byte* data = nullptr;
  std::uint32_t stride = 0;  // from lane to lane

  template <class T>
  [[nodiscard]] T load(int lane) const {
    T value;
    std::memcpy(&value, data + static_cast<std::size_t>(lane) * stride, sizeof value);
    return value;
  }

  // The 8 bytes at 8 * piece of a value in local memory.
  void store(int lane, int piece, std::uint64_t value) const {
    std::memcpy(data + static_cast<std::size_t>(piece) * 256 + static_cast<std::size_t>(lane) * 8,
                &value, sizeof value);
  }
};

// What a generic address means to a thread.
struct GenericPlace {
  enum class Space : std::uint8_t { kGlobal, kShared, kOther };
  Space space = Space::kOther;
  std::uint32_t rank = 0;    // kShared: of the CTA in its cluster
  std::uint64_t offset = 0;  // kShared: in that CTA's shared memory
};

struct NativeCall {
  std::uint32_t mask = 0;  // the lanes that call, never empty
  std::span<const LaneValues> arguments;
  LaneValues result;
  std::byte* shared_variable = nullptr;  // the CTA's, of the name that the function gave
  std::byte* shared = nullptr;           // the CTA's shared memory
  std::uint64_t cta = 0, cluster = 0;    // linear indices in the grid
  std::uint64_t ctas = 0;                // of the grid
  std::uint32_t rank = 0;                // of the CTA in its cluster
  std::uint32_t warp = 0;                // in the CTA
  std::uint32_t threads = 0;             // of the CTA
  const Context* context = nullptr;

  [[nodiscard]] GenericPlace place_of(std::uint64_t generic_address) const;
  // Of a handle of a texture or a surface; null if it is none.
  [[nodiscard]] std::shared_ptr<const TextureView> texture_of(std::uint64_t handle) const;
  // Some of these lanes of the warp have not exited and do not call now: a lane that wants to meet
  // them tries again. False after many tries, so that lanes which wait for each other do not wait
  // for ever.
  [[nodiscard]] bool waits_for(std::uint32_t members) const;
};

enum class NativeResult : std::uint8_t {
  kDone,
  kTryAgain,  // nothing has happened; other warps run first
};

struct NativeFunction {
  std::string_view name;
  std::string_view shared_variable;  // a .shared variable of the module that it reads
  std::size_t arguments = 0;
  NativeResult (*execute)(const NativeCall& call) = nullptr;
};

}  // namespace barracuda::emulator
