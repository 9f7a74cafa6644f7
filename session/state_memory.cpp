#include "session/state_memory.h"

#include <algorithm>

#include "base/align.h"
#include "base/assert.h"
#include "base/strong_id.h"
#include "device_logger/word_owners.h"

namespace barracuda::session {
namespace {

// Of all pieces together. A launch of 16,384 blocks with 8 KiB of shared memory each takes 260 MiB.
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMostEmulated = std::uint64_t{128} << 20;
// Besides what the program says: what the system takes in front of it, the tool's word behind it,
// and what lies between them because of their alignment. Words beyond have no states.
constexpr std::uint64_t kReservedBytes = 1024, kOwnBytes = 1024 + 256;

constexpr std::uint64_t kAlignment = 128;

// Of a kernel that has no states, events are logged by block if there are more blocks than this: to
// clear memory costs a launch about what some hundred records do.
constexpr std::uint64_t kFewBlocks = 32;

std::uint32_t window_of(const StateMemory::Request& request) {
  if (!request.kernel.keeps_states) {
    return 0;
  }
  return static_cast<std::uint32_t>(align_up(
      kReservedBytes + kOwnBytes + request.kernel.shared_bytes + request.dynamic_bytes, 128));
}

}  // namespace

StateMemory::~StateMemory() {
  for (const Piece& piece : pieces_) {
    driver_.free_device(piece.address);
  }
}

StateMemory::Piece* StateMemory::allocate(std::uint64_t bytes) {
  const std::uint64_t most = driver_.is_emulated() ? kMostEmulated : kMostBytes;
  std::uint64_t held = 0;
  for (const Piece& piece : pieces_) {
    held += piece.bytes;
  }
  while (held + bytes > most) {
    const auto unused = std::ranges::find(pieces_, 0U, &Piece::launches);
    if (unused == pieces_.end()) {
      return nullptr;
    }
    held -= unused->bytes;
    driver_.free_device(unused->address);
    pieces_.erase(unused);
  }
  const std::uint64_t address = driver_.allocate_device(bytes);
  return address == 0 ? nullptr : &pieces_.emplace_back(Piece{.address = address, .bytes = bytes});
}

// The smallest that is large enough.
StateMemory::Piece* StateMemory::find(std::uint64_t bytes, detector::StreamKey stream) {
  Piece* best = nullptr;
  for (Piece& piece : pieces_) {
    if ((piece.launches == 0 || piece.stream == stream) && piece.bytes >= bytes &&
        (best == nullptr || piece.bytes < best->bytes)) {
      best = &piece;
    }
  }
  return best;
}

StateMemory::States StateMemory::acquire(const Request& request) {
  const States states = acquire(request, request.watched_bytes);
  return states.of_blocks.address != 0 || request.watched_bytes == 0 ? states : acquire(request, 0);
}

// The words of what is watched, which need no zeroes, its states, as large, and what is of blocks.
StateMemory::States StateMemory::acquire(const Request& request, std::uint64_t watched_bytes) {
  const ptx::Kernel& kernel = request.kernel;
  if (!kernel.has_block_events || request.grid.volume() == 0 ||
      (!kernel.keeps_states && watched_bytes == 0 && request.grid.volume() <= kFewBlocks)) {
    return {};
  }
  const std::uint64_t granules = watched_bytes >> kernel.owner_granule_log2;
  const std::uint64_t words = align_up(granules * wire::kOwnerBytes, kAlignment);
  const std::uint32_t window = window_of(request);
  const std::uint64_t bytes =
      2 * words + wire::block_offset(request.grid.volume(), window, kernel.state_granule_log2) +
      wire::kEndedBlocksBytes;
  if (bytes > kMostBytes) {
    return {};
  }
  Piece* piece = find(bytes, request.stream_key);
  if (piece == nullptr) {
    piece = allocate(bytes);
  }
  if (piece == nullptr || !driver_.clear(request.stream, piece->address + words, bytes - words)) {
    return {};
  }
  piece->stream = request.stream_key;
  ++piece->launches;
  return {.of_blocks = {.address = piece->address + 2 * words,
                        .window = window,
                        .first_site = index_of(kernel.state_sites) & (wire::kMaxSites - 1),
                        .granule_log2 = kernel.state_granule_log2 & 3,
                        .owner_granule_log2 = kernel.owner_granule_log2 & 3},
          .owners = watched_bytes == 0 ? 0 : piece->address + words};
}

void StateMemory::release(const wire::SharedStates& states) {
  if (states.address != 0) {
    const auto piece = std::ranges::find_if(
        pieces_, [&](const Piece& each) { return states.address - each.address < each.bytes; });
    ASSERT(piece != pieces_.end() && piece->launches != 0);
    --piece->launches;
  }
}

}  // namespace barracuda::session
