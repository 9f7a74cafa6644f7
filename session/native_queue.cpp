#include "session/native_queue.h"

#include <atomic>
#include <cstring>

#include "base/assert.h"
#include "device_logger/block_events.h"
#include "device_logger/order_number.h"

namespace barracuda::session {

namespace {

// Device addresses of global memory are host addresses on the emulated device.
template <class T>
T* pointer(std::uint64_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <class T>
std::atomic_ref<T> shared_word(std::uint64_t address) {
  return std::atomic_ref<T>(*pointer<T>(address));
}

}  // namespace

const wire::LaunchDescriptor* descriptor_of(const emulator::NativeCall& call) {
  std::uint64_t address = 0;
  std::memcpy(&address, call.shared_variable, sizeof address);
  return pointer<const wire::LaunchDescriptor>(address);
}

wire::BlockWords block_words(const emulator::NativeCall& call) {
  wire::BlockWords words{};
  std::memcpy(&words, call.shared_variable, sizeof words);
  return words;
}

std::byte* block_memory(wire::BlockPlace place, const emulator::NativeCall& call) {
  return place >> 32 == 0 ? call.shared + place : pointer<std::byte>(place);
}

NativeQueue::NativeQueue(const wire::LaunchDescriptor& descriptor, const emulator::NativeCall& call)
    : descriptor_(descriptor), call_(call) {
  const std::uint64_t queue = call.cluster % descriptor.queue_count;
  ring_ = descriptor.rings + queue * (std::uint64_t{wire::kSlotBytes} << descriptor.slots_log2);
  head_ = descriptor.heads + queue * wire::kHeadStride;
  read_position_ = descriptor.read_positions + queue * wire::kReadPositionStride;
}

bool NativeQueue::is_quiet(std::uint32_t site) const {
  const auto word_at = [this](std::uint32_t i) {
    return shared_word<std::uint32_t>(descriptor_.quiet_sites + i * sizeof(std::uint32_t))
        .load(std::memory_order_relaxed);
  };
  return descriptor_.quiet_sites != 0 && wire::has_quiet_bit(word_at, site);
}

// The copy of the read position behind the claim counter spares most reads of what the host writes.
bool NativeQueue::is_free(std::uint64_t end) const {
  const std::uint64_t capacity = std::uint64_t{1} << descriptor_.slots_log2;
  const auto copy = shared_word<std::uint64_t>(head_ + 8);
  if (end <= copy.load(std::memory_order_acquire) + capacity) {
    return true;
  }
  const std::uint64_t position =
      shared_word<std::uint64_t>(read_position_).load(std::memory_order_acquire);
  copy.store(position, std::memory_order_release);
  return end <= position + capacity;
}

std::uint64_t NativeQueue::claim(std::uint32_t slots) const {
  const std::uint64_t slot = claim_untold(slots);
  if (slot != wire::kNoSlot) {
    tell_block();
  }
  return slot;
}

// By the host's thread that has the block.
void NativeQueue::tell_block() const {
  const wire::BlockPlace header = block_words(call_).header;
  if (header != 0) {
    *reinterpret_cast<std::uint32_t*>(block_memory(header + wire::kLoggedOfBlock, call_)) =
        wire::kLoggedSinceBarrier | wire::kLoggedEver;
  }
}

std::uint64_t NativeQueue::claim_untold(std::uint32_t slots) const {
  DEBUG_ASSERT(slots != 0 && slots <= wire::kMaxRecordSlots);
  const auto head = shared_word<std::uint64_t>(head_);
  std::uint64_t slot = head.load(std::memory_order_relaxed);
  do {
    if (!is_free(slot + slots)) {
      return wire::kNoSlot;
    }
  } while (!head.compare_exchange_weak(slot, slot + slots, std::memory_order_seq_cst));
  return slot;
}

std::uint32_t NativeQueue::take_order_number(std::uint64_t address) const {
  const std::uint64_t counter =
      descriptor_.order_counters + std::uint64_t{4} * wire::order_counter_of(address);
  return shared_word<std::uint32_t>(counter).fetch_add(1, std::memory_order_seq_cst);
}

std::uint32_t NativeQueue::order_number(std::uint64_t address) const {
  const std::uint64_t counter =
      descriptor_.order_counters + std::uint64_t{4} * wire::order_counter_of(address);
  return shared_word<std::uint32_t>(counter).load(std::memory_order_seq_cst);
}

std::uint32_t NativeQueue::program_cta_of(std::uint32_t cta) const {
  return wire::program_block(descriptor_.block_order, cta, static_cast<std::uint32_t>(call_.ctas));
}

std::uint32_t NativeQueue::program_cta() const {
  return program_cta_of(static_cast<std::uint32_t>(call_.cta));
}

// One store, for who reads it finds it whole; what was written before is visible before it.
void NativeQueue::write_half(std::uint64_t slot, std::uint32_t half, std::uint32_t high16,
                             std::uint32_t second, std::uint32_t third,
                             std::uint32_t fourth) const {
  using Half [[gnu::vector_size(16)]] = std::uint32_t;
  static_assert(sizeof(Half) == wire::kHalfBytes);
  DEBUG_ASSERT(slot != wire::kNoSlot && half < wire::kSlotBytes / wire::kHalfBytes);
  const std::uint64_t index = slot & ((std::uint64_t{1} << descriptor_.slots_log2) - 1);
  const std::uint32_t tag = wire::lap_tag(slot, descriptor_.slots_log2);
  const Half value = {tag | high16 << 16, second, third, fourth};
  std::atomic_thread_fence(std::memory_order_release);
  *pointer<volatile Half>(ring_ + index * wire::kSlotBytes + half * wire::kHalfBytes) = value;
}

}  // namespace barracuda::session
