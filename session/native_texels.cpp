#include "session/native_texels.h"

#include <array>
#include <bit>

#include "device_logger/site_word.h"
#include "device_logger/write_record.h"
#include "emulator/texture.h"
#include "session/native_lanes.h"
#include "session/native_queue.h"

namespace barracuda::session {
namespace {

using emulator::NativeCall;
using emulator::NativeResult;
using emulator::Texels;
using emulator::TextureView;

constexpr std::size_t kCorners = std::tuple_size_v<decltype(Texels::addresses)>;
constexpr std::uint32_t kSizes = 5;  // of texels: 1 to 16 bytes

// The texels that each lane reaches, corner by corner, and how large they are. A lane's corners are
// different ones: those that coincide, as at an edge, are one access.
struct Reached {
  std::array<LaneWords, kCorners> addresses{};
  std::array<std::uint32_t, kCorners> lanes{};
  std::array<std::uint32_t, kSizes> of_size{};  // lanes whose texels have 1 << i bytes
};

void add(Reached& reached, const Texels& texels, std::uint32_t lane) {
  for (std::uint32_t corner = 0; corner < texels.count; ++corner) {
    const std::uint64_t address = texels.addresses.at(corner);
    bool is_new = address != Texels::kNone;
    for (std::uint32_t before = 0; before < corner; ++before) {
      is_new = is_new && texels.addresses.at(before) != address;
    }
    if (is_new) {
      reached.addresses.at(corner)[lane] = address;
      reached.lanes.at(corner) |= std::uint32_t{1} << lane;
    }
  }
}

// What the instruction refuses, it has not accessed.
Reached reached_by(const NativeCall& call) {
  Reached reached;
  std::shared_ptr<const TextureView> view;
  std::uint64_t last = 0;
  NativeLanes(call.mask).for_each([&](std::uint32_t lane, std::uint32_t) {
    const int i = static_cast<int>(lane);
    const auto handle = call.arguments[1].load<std::uint64_t>(i);
    if (view == nullptr || handle != last) {
      view = call.texture_of(handle);
      last = handle;
    }
    const auto form = emulator::TexelForm::unpacked(call.arguments[2].load<std::uint32_t>(i));
    if (view == nullptr || !fits(*view, form)) {
      return;
    }
    emulator::TexelCoordinates coordinates{};
    for (std::size_t word = 0; word < coordinates.size(); ++word) {
      coordinates.at(word) =
          static_cast<std::uint32_t>(call.arguments[3 + word].load<std::uint64_t>(i));
    }
    add(reached, texels_at(*view, form, coordinates), lane);
    const std::uint32_t bytes = form.is_of_surface() ? form.bytes : view->texel_bytes();
    reached.of_size.at(static_cast<std::size_t>(std::countr_zero(bytes))) |= std::uint32_t{1}
                                                                             << lane;
  });
  return reached;
}

}  // namespace

// With a queue that is full between two corners, the first one's record comes twice: accesses that
// happened.
NativeResult log_texels(const NativeCall& call) {
  const wire::LaunchDescriptor* const descriptor = descriptor_of(call);
  if (descriptor == nullptr) {
    return NativeResult::kDone;
  }
  const Reached reached = reached_by(call);
  const NativeQueue queue(*descriptor, call);
  const auto first = static_cast<int>(std::countr_zero(call.mask));
  const auto word = call.arguments[0].load<std::uint32_t>(first);
  const std::uint32_t smallest = word >> wire::kSizeShift & ((1U << wire::kSizeBits) - 1);
  for (std::uint32_t size = smallest; size < kSizes; ++size) {
    const std::uint32_t behind = size - smallest;
    for (std::size_t corner = 0; corner < kCorners; ++corner) {
      const std::uint32_t lanes = reached.lanes.at(corner) & reached.of_size.at(size);
      if (lanes != 0 && !wire::write_access(queue, NativeLanes(lanes),
                                            word + behind + (behind << wire::kSizeShift),
                                            reached.addresses.at(corner), {})) {
        return NativeResult::kTryAgain;
      }
    }
  }
  return NativeResult::kDone;
}

}  // namespace barracuda::session
