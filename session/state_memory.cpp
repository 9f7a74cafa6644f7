#include "session/state_memory.h"

#include <algorithm>

#include "base/align.h"
#include "base/assert.h"
#include "base/strong_id.h"
#include "device_logger/word_owners.h"

namespace barracuda::session {
namespace {

// Of all pieces together: this part of the device's memory, of which the driver gives no more than
// a quarter of what is free at once. A launch of 16,384 blocks with 8 KiB of shared memory each
// takes 260 MiB, and one that watches 2 GiB of floats 8 GiB.
constexpr std::uint64_t kShareOfMemory = 4;
constexpr std::uint64_t kMostEmulated = std::uint64_t{128} << 20;
// Besides what the program says: what the system takes in front of it, the tool's words behind it,
// and what lies between them because of their alignment. Words beyond have no states.
constexpr std::uint64_t kReservedBytes = 1024, kOwnBytes = wire::kBlockWordsBytes + 128;

constexpr std::uint64_t kAlignment = 128;

// Of dynamic shared memory, and of what a block keeps in it: no compiler aligns it to more by
// itself, and the tool's array has that.
constexpr std::uint32_t kSharedAlignment = 16;

// How many threads of a kernel with states a multiprocessor has registers for: 96 each, or 64 where
// a block may be large (ptx/passes/barrier_intervals.cpp bounds them). And how many blocks run on
// one at most.
constexpr std::uint64_t kThreads = 65536 / 96, kThreadsOfLargeBlocks = 65536 / 64;
constexpr std::uint64_t kLargeBlock = 512, kMostBlocks = 32;
// What is left of its shared memory is its cache: without any of it a kernel that reads much is
// slower than with states in device memory (lavaMD on an H100: 10 x for 5 x).
constexpr double kShareForBlocks = 0.5;

// Of a kernel that has no states, events are logged by block if there are more blocks than this: to
// clear memory costs a launch about what some hundred records do.
constexpr std::uint64_t kFewBlocks = 32;

std::uint64_t dynamic_bytes(const StateMemory::Request& request) {
  return align_up(request.launch.shared_bytes, kSharedAlignment);
}

std::uint32_t window_of(const StateMemory::Request& request) {
  if (!request.kernel.keeps_states) {
    return 0;
  }
  // The words of the threads lie behind the states, each as large as one (copy_states.h).
  const std::uint64_t of_threads = request.kernel.keeps_copies
                                       ? request.launch.block.volume()
                                             << request.kernel.state_granule_log2
                                       : 0;
  return static_cast<std::uint32_t>(align_up(kReservedBytes + kOwnBytes +
                                                 request.kernel.shared_bytes +
                                                 dynamic_bytes(request) + of_threads,
                                             128));
}

}  // namespace

StateMemory::StateMemory(DeviceDriver& driver)
    : driver_(driver),
      most_bytes_(driver.is_emulated() ? kMostEmulated
                                       : driver.size().memory_bytes / kShareOfMemory) {}

StateMemory::~StateMemory() {
  for (const Piece& piece : pieces_) {
    driver_.free_device(piece.memory);
  }
}

StateMemory::Piece* StateMemory::allocate(std::uint64_t bytes) {
  std::uint64_t held = 0;
  for (const Piece& piece : pieces_) {
    held += piece.bytes;
  }
  while (held + bytes > most_bytes_) {
    const auto unused = std::ranges::find(pieces_, 0U, &Piece::launches);
    if (unused == pieces_.end()) {
      return nullptr;
    }
    held -= unused->bytes;
    driver_.free_device(unused->memory);
    pieces_.erase(unused);
  }
  const DevicePointer memory = driver_.allocate_device(bytes);
  return memory == DevicePointer{} ? nullptr
                                   : &pieces_.emplace_back(Piece{.memory = memory, .bytes = bytes});
}

void StateMemory::reserve() {
  constexpr std::uint64_t kMostLaunches = std::uint64_t{16} << 20;  // need no more
  allocate(kMostLaunches);
}

// The smallest that is large enough. What is before in the stream is over (LaunchShape::is_serial).
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

bool StateMemory::have_room(const Request& request, std::uint64_t bytes) const {
  if (driver_.is_emulated()) {
    return true;
  }
  const DeviceSize device = driver_.size();
  const std::uint64_t threads = std::max<std::uint64_t>(request.launch.block.volume(), 1),
                      processors = std::max(device.multiprocessors, 1U),
                      at_once = threads > kLargeBlock ? kThreadsOfLargeBlocks : kThreads;
  const std::uint64_t blocks =
      std::min({std::max<std::uint64_t>(at_once / threads, 1), kMostBlocks,
                (request.launch.grid.volume() + processors - 1) / processors});
  const std::uint64_t of_block =
      kReservedBytes + kOwnBytes + request.kernel.shared_bytes + dynamic_bytes(request) + bytes;
  return static_cast<double>(blocks * of_block) <= kShareForBlocks * device.shared_bytes;
}

std::uint32_t StateMemory::own_bytes(const Request& request, std::uint32_t window) const {
  // The program may have asked how many blocks, or clusters, run at once.
  if (request.launch.is_cooperative || request.launch.cluster) {
    return 0;
  }
  const std::uint64_t most = request.launch.most_shared_bytes, dynamic = dynamic_bytes(request);
  const std::uint64_t all = wire::block_bytes(window, request.kernel.state_granule_log2);
  if (dynamic + all <= most && have_room(request, all)) {
    return static_cast<std::uint32_t>(all);
  }
  return dynamic + wire::kStatesHeader <= most ? wire::kStatesHeader : 0;
}

StateMemory::States StateMemory::acquire(const Request& request) {
  const States states = acquire(request, request.watched_bytes);
  return states.of_blocks.address != 0 || request.watched_bytes == 0 ? states : acquire(request, 0);
}

// A piece has the word that counts blocks; the words of what is watched, which need no zeroes; its
// states, as large; and what is of blocks, unless they keep it themselves.
StateMemory::States StateMemory::acquire(const Request& request, std::uint64_t watched_bytes) {
  const ptx::Kernel& kernel = request.kernel;
  const std::uint64_t blocks = request.launch.grid.volume();
  if (!kernel.has_block_events || blocks == 0 ||
      (!kernel.keeps_states && watched_bytes == 0 && blocks <= kFewBlocks)) {
    return {};
  }
  const std::uint64_t granules = watched_bytes >> kernel.owner_granule_log2;
  const std::uint64_t words = align_up(granules * wire::kOwnerBytes, kAlignment);
  const std::uint32_t window = window_of(request);
  const std::uint32_t own = own_bytes(request, window);
  const bool keep_all = own > wire::kStatesHeader || (own != 0 && !kernel.keeps_states);
  const std::uint64_t of_blocks =
      keep_all ? 0 : wire::block_offset(blocks, window, kernel.state_granule_log2);
  const std::uint64_t unclear = wire::kEndedBlocksBytes + words,
                      bytes = unclear + words + of_blocks;
  if (bytes > most_bytes_) {
    return {};
  }
  Piece* piece = find(bytes, request.stream_key);
  if (piece == nullptr) {
    piece = allocate(bytes);
  }
  if (piece == nullptr || !clear(request.launch.stream, piece->memory, unclear, bytes)) {
    return {};
  }
  piece->stream = request.stream_key;
  ++piece->launches;
  const std::uint64_t address = index_of(piece->memory);
  return {.of_blocks = {.address = address,
                        .blocks = address + unclear + words,
                        .own_begin = static_cast<std::uint32_t>(dynamic_bytes(request)),
                        .own_bytes = own,
                        .window = window,
                        .first_site = index_of(kernel.state_sites) & (wire::kMaxSites - 1),
                        .granule_log2 = kernel.state_granule_log2 & 3,
                        .owner_granule_log2 = kernel.owner_granule_log2 & 3,
                        .keeps_copies = kernel.keeps_copies ? 1U : 0U},
          .owners = watched_bytes == 0 ? 0 : address + unclear};
}

// The word that counts blocks is 0 when a launch is over. On an emulated device it may have been
// ended before, and the next one runs.
bool StateMemory::clear(Handle stream, DevicePointer piece, std::uint64_t begin,
                        std::uint64_t end) const {
  return (!driver_.is_emulated() || driver_.clear(stream, piece, wire::kEndedBlocksBytes)) &&
         (begin == end ||
          driver_.clear(stream, DevicePointer{index_of(piece) + begin}, end - begin));
}

void StateMemory::release(const wire::SharedStates& states) {
  if (states.address != 0) {
    const auto piece = std::ranges::find_if(pieces_, [&](const Piece& each) {
      return states.address - index_of(each.memory) < each.bytes;
    });
    ASSERT(piece != pieces_.end() && piece->launches != 0);
    --piece->launches;
  }
}

}  // namespace barracuda::session
