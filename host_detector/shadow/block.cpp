#include "host_detector/shadow/block.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace barracuda::detector {
namespace {

constexpr Bytes kWhole = Bytes::upto(kBlockBytes);

// Lies within the first `words` words from its first one on.
bool is_within_words(const Bytes& bytes, std::uint32_t words) {
  const std::uint32_t first = bytes.first() / WordLists::kWordBytes;
  return (bytes & ~Bytes::upto((first + words) * WordLists::kWordBytes)).none();
}

void cut(Cell& cell, const Bytes& bytes, const Block::Choice& choose) {
  if (!(cell.bytes & bytes).none()) {
    cell.bytes = cell.bytes & ~(bytes & choose(cell));
  }
}

void cut(Cells& cells, const Bytes& bytes, const Block::Choice& choose) {
  for (Cell& cell : cells) {
    cut(cell, bytes, choose);
  }
  const auto gone =
      std::ranges::remove_if(cells, [](const Cell& cell) { return cell.bytes.none(); });
  cells.erase(gone.begin(), gone.end());
}

void cut(AccessHistory& history, const Bytes& bytes, const Block::Choice& choose) {
  cut(history.cells, bytes, choose);
  for (SharedAccessSet& shared_set : history.shared_sets) {
    shared_set.update([&](Cell& cell) { cut(cell, bytes, choose); });
  }
  std::erase_if(history.shared_sets,
                [](const SharedAccessSet& shared_set) { return shared_set.is_empty(); });
}

}  // namespace

bool Block::is_valid() const {
  if (lists_ == nullptr) {
    return !has_only() || only().is_valid();
  }
  const AccessHistory* const whole = lists_->whole.get();
  const WordLists* const words = lists_->words.get();
  return !has_only() && (whole == nullptr || whole->is_valid()) &&
         (words == nullptr || words->is_valid());
}

void Block::keep(AccessHistory& history) {
  DEBUG_ASSERT(lists_ == nullptr && history.is_valid());
  const Cells& cells = history.cells;
  if (history.shared_sets.empty() && (cells.empty() || (cells.size() == 1 && is_plain(cells[0])))) {
    if (cells.empty()) {
      bytes_ = Bytes{};
    } else {
      set_only(cells[0]);
    }
    return;
  }
  lists_ = std::make_unique<Lists>();
  lists_->whole = std::make_unique<AccessHistory>(std::move(history));
  bytes_ = Bytes{};
}

bool Block::divide_for(std::uint32_t word) {
  DEBUG_ASSERT(lists_ == nullptr && has_only());
  const std::uint32_t of_only = bytes_.first() / WordLists::kWordBytes;
  if (of_only == word || !bytes_.within(WordLists::bytes_of(of_only))) {
    return false;
  }
  lists_ = std::make_unique<Lists>();
  lists_->words = std::make_unique<WordLists>();
  lists_->words->add(of_only, only());
  bytes_ = Bytes{};
  return true;
}

void Block::clear() {
  bytes_ = Bytes{};
  lists_.reset();
}

void Block::clear(const Bytes& bytes) {
  if (bytes == kWhole) {
    clear();
  } else {
    clear(bytes, [](const Cell& cell) { return cell.bytes; });
  }
}

void Block::clear(const Bytes& bytes, const Choice& choose) {
  if (has_only()) {
    Cell cell = only();
    cut(cell, bytes, choose);
    bytes_ = cell.bytes;
  }
  if (lists_ == nullptr) {
    return;
  }
  if (AccessHistory* const whole = lists_->whole.get()) {
    cut(*whole, bytes, choose);
  }
  if (WordLists* const words = lists_->words.get()) {
    for (std::uint32_t word = 0; word < WordLists::kWords; ++word) {
      if (!(WordLists::bytes_of(word) & bytes).none() && !words->is_empty(word)) {
        words->visit(word, [&](AccessHistory& history) { cut(history, bytes, choose); });
      }
    }
  }
  DEBUG_ASSERT(is_valid());
}

// Wide cells stay together: copied to each of their words they would cost that many times as
// much.
void Block::Lists::split_if_worthwhile() {
  DEBUG_ASSERT(whole != nullptr && words == nullptr);
  constexpr std::uint32_t kFewWords = 4;
  Cells& cells = whole->cells;
  const std::size_t size = cells.size();
  const auto should_move = [&](const Cell& cell) {
    return size > kLong ? cell.bytes != kWhole
                        : is_within_words(cell.bytes, size > kSplitAt ? kFewWords : 1);
  };
  const auto moved = static_cast<std::size_t>(std::ranges::count_if(cells, should_move));
  if (size > kSplitAt ? moved * 2 < size : moved < size) {
    return;
  }
  words = std::make_unique<WordLists>();
  const auto is_whole = [](const Cell& cell) { return cell.bytes == kWhole; };
  for (const Cell& cell : cells) {
    if (!is_whole(cell)) {
      WordLists::for_each_part(
          cell, [&](std::uint32_t word, const Cell& part) { words->add(word, part); });
    }
  }
  const auto gone = std::ranges::remove_if(cells, std::not_fn(is_whole));
  cells.erase(gone.begin(), gone.end());
  cells.shrink_to_fit();
  drop_whole_if_empty();
}

void Block::Lists::drop_whole_if_empty() {
  if (whole != nullptr && whole->is_empty()) {
    whole.reset();
  }
}

}  // namespace barracuda::detector
