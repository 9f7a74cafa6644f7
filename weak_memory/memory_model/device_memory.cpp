#include "weak_memory/memory_model/device_memory.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"

namespace barracuda::memory_model {
namespace {

std::uint64_t take_oldest(StoreBuffer& buffer, std::size_t location) {
  const auto oldest = std::ranges::find(buffer, location, &BufferedStore::location);
  ASSERT(oldest != buffer.end());
  const std::uint64_t value = oldest->value;
  buffer.erase(oldest);
  return value;
}

std::optional<std::uint64_t> latest_in(const StoreBuffer& buffer, std::size_t location) {
  const auto latest =
      std::ranges::find(buffer.rbegin(), buffer.rend(), location, &BufferedStore::location);
  return latest == buffer.rend() ? std::nullopt : std::optional(latest->value);
}

}  // namespace

bool waits_in(const StoreBuffer& buffer, std::size_t location) {
  return std::ranges::find(buffer, location, &BufferedStore::location) != buffer.end();
}

Locations locations_of(const StoreBuffer& buffer) {
  Locations all = 0;
  for (const BufferedStore& store : buffer) {
    all |= bit_of(store.location);
  }
  return all;
}

void encode_buffer(const StoreBuffer& buffer, StateBytes& bytes) {
  bytes.add(buffer.size());
  // Stores to different locations leave in any order: what came first among them makes no
  // difference.
  StoreBuffer sorted = buffer;
  std::ranges::stable_sort(sorted, {}, &BufferedStore::location);
  for (const BufferedStore& store : sorted) {
    bytes.add(store.location);
    bytes.add(store.value);
  }
}

DeviceMemory::DeviceMemory(const Program& program) : program_(program) {
  const auto& threads = program.threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    std::size_t block = threads_in_.size();
    for (std::size_t other = 0; other < i; ++other) {
      if (threads[i].includes(Scope::kCta, threads[other])) {
        block = block_[other];
      }
    }
    if (block == threads_in_.size()) {
      threads_in_.push_back(0);
      representative_.push_back(i);
    }
    ++threads_in_[block];
    block_.push_back(block);
  }
}

bool DeviceMemory::is_valid(const DeviceState& state) const {
  for (std::size_t block = 0; block < state.blocks.size(); ++block) {
    for (const BufferedStore& store : state.blocks[block]) {
      if (skips_block(representative_[block], store.location)) {
        return false;
      }
    }
  }
  return true;
}

bool DeviceMemory::skips_block(std::size_t thread, std::size_t location) const {
  return threads_in_[block_[thread]] == 1 || program_.location(location).is_shared;
}

std::uint64_t DeviceMemory::seen_by_block(const DeviceState& state, std::size_t block,
                                          std::size_t location) const {
  return latest_in(state.blocks[block], location).value_or(state.memory[location]);
}

std::vector<std::uint64_t> DeviceMemory::seen_by_blocks(const DeviceState& state,
                                                        std::size_t location) const {
  std::vector<std::uint64_t> all;
  all.reserve(state.blocks.size());
  for (std::size_t block = 0; block < state.blocks.size(); ++block) {
    all.push_back(seen_by_block(state, block, location));
  }
  return all;
}

std::uint64_t DeviceMemory::seen(const DeviceState& state, std::size_t thread,
                                 std::size_t location) const {
  const auto own = latest_in(state.threads[thread].buffer, location);
  return own ? *own : seen_by_block(state, block_[thread], location);
}

bool DeviceMemory::is_drained(const DeviceState& state, std::size_t thread, Scope scope) const {
  const std::size_t block = block_[thread];
  if (scope == Scope::kCta && threads_in_[block] == 1) {
    return true;  // nobody else is to see anything
  }
  return state.threads[thread].buffer.empty() &&
         (scope == Scope::kCta || state.blocks[block].empty());
}

void DeviceMemory::note_change(DeviceState& state, std::size_t block, std::size_t location,
                               std::uint64_t before) const {
  if (seen_by_block(state, block, location) == before) {
    return;
  }
  for (std::size_t thread = 0; thread < state.threads.size(); ++thread) {
    DeviceThread& that = state.threads[thread];
    if (block_[thread] == block && !waits_in(that.buffer, location)) {
      that.past[location].push_back(before);
    }
  }
}

void DeviceMemory::note_changes(DeviceState& state, std::size_t location,
                                const std::vector<std::uint64_t>& before) const {
  for (std::size_t block = 0; block < state.blocks.size(); ++block) {
    note_change(state, block, location, before[block]);
  }
}

void DeviceMemory::write(DeviceState& state, std::size_t location, std::uint64_t value) const {
  const std::vector<std::uint64_t> before = seen_by_blocks(state, location);
  state.memory[location] = value;
  note_changes(state, location, before);
}

// That moment is the thread's last access of the location.
void DeviceMemory::publish(DeviceState& state, std::size_t thread, std::size_t location) const {
  const std::size_t block = block_[thread];
  const std::uint64_t value = take_oldest(state.threads[thread].buffer, location);
  if (skips_block(thread, location)) {
    write(state, location, value);
  } else {
    const std::uint64_t before = seen_by_block(state, block, location);
    state.blocks[block].push_back(
        {.location = static_cast<std::uint32_t>(location), .value = value});
    note_change(state, block, location, before);
  }
  state.threads[thread].past[location].clear();
}

// Its block sees it already.
void DeviceMemory::commit(DeviceState& state, std::size_t block, std::size_t location) const {
  const std::vector<std::uint64_t> before = seen_by_blocks(state, location);
  state.memory[location] = take_oldest(state.blocks[block], location);
  note_changes(state, location, before);
}

Cells DeviceMemory::cells_of_all(std::size_t location) const {
  Cells cells;
  for (std::size_t block = 0; block < blocks(); ++block) {
    cells.set(cell_of(block, location));
  }
  return cells;
}

Cells DeviceMemory::cells_of_block(std::size_t block) const {
  Cells cells;
  for (std::size_t location = 0; location < program_.locations; ++location) {
    cells.set(cell_of(block, location));
  }
  return cells;
}

}  // namespace barracuda::memory_model
