#include "host_detector/shadow/block.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace barracuda::detector {
namespace {

constexpr Bytes kWhole = Bytes::upto(kBlockBytes);

// Touches no word beyond so many from its first one on.
bool is_within_words(const Bytes& bytes, std::uint32_t words) {
  const std::uint32_t first = bytes.first() / WordLists::kWordBytes;
  return (bytes & ~Bytes::upto((first + words) * WordLists::kWordBytes)).none();
}

void cut(Entry& entry, const Bytes& bytes, const Block::Choice& choose) {
  if (!(entry.bytes & bytes).none()) {
    entry.bytes = entry.bytes & ~(bytes & choose(entry));
  }
}

void cut(Entries& entries, const Bytes& bytes, const Block::Choice& choose) {
  for (Entry& entry : entries) {
    cut(entry, bytes, choose);
  }
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const Entry& entry) { return entry.bytes.none(); }),
                entries.end());
}

void cut(History& history, const Bytes& bytes, const Block::Choice& choose) {
  cut(history.entries, bytes, choose);
  for (Crowd& crowd : history.crowds) {
    crowd.update([&](Entry& entry) { cut(entry, bytes, choose); });
  }
  std::erase_if(history.crowds, [](const Crowd& crowd) { return crowd.is_empty(); });
}

}  // namespace

bool Block::is_valid() const {
  if (lists_ == nullptr) {
    return !has_only() || only().is_valid();
  }
  const History* const whole = lists_->whole.get();
  const WordLists* const words = lists_->words.get();
  return !has_only() && (whole == nullptr || whole->is_valid()) &&
         (words == nullptr || words->is_valid());
}

void Block::keep(History& history) {
  DEBUG_ASSERT(lists_ == nullptr && history.is_valid());
  const Entries& entries = history.entries;
  if (history.crowds.empty() &&
      (entries.empty() || (entries.size() == 1 && is_plain(entries[0])))) {
    if (entries.empty()) {
      bytes_ = Bytes{};
    } else {
      set_only(entries[0]);
    }
    return;
  }
  lists_ = std::make_unique<Lists>();
  lists_->whole = std::make_unique<History>(std::move(history));
  bytes_ = Bytes{};
}

void Block::clear() {
  bytes_ = Bytes{};
  lists_.reset();
}

void Block::clear(const Bytes& bytes) {
  if (bytes == kWhole) {
    clear();
  } else {
    clear(bytes, [](const Entry& entry) { return entry.bytes; });
  }
}

void Block::clear(const Bytes& bytes, const Choice& choose) {
  if (has_only()) {
    Entry entry = only();
    cut(entry, bytes, choose);
    bytes_ = entry.bytes;
  }
  if (lists_ == nullptr) {
    return;
  }
  if (History* const whole = lists_->whole.get()) {
    cut(*whole, bytes, choose);
  }
  if (WordLists* const words = lists_->words.get()) {
    for (std::uint32_t word = 0; word < WordLists::kWords; ++word) {
      if (!(WordLists::bytes_of(word) & bytes).none() && !words->is_empty(word)) {
        words->visit(word, [&](History& history) { cut(history, bytes, choose); });
      }
    }
  }
  DEBUG_ASSERT(is_valid());
}

// Wide entries stay together: copied to each of their words they would cost that many times as
// much.
void Block::Lists::split_if_worthwhile() {
  DEBUG_ASSERT(whole != nullptr && words == nullptr);
  constexpr std::uint32_t kFewWords = 4;
  Entries& entries = whole->entries;
  const std::size_t size = entries.size();
  const auto should_move = [&](const Entry& entry) {
    return size > kLong ? entry.bytes != kWhole
                        : is_within_words(entry.bytes, size > kSplitAt ? kFewWords : 1);
  };
  const auto moved = static_cast<std::size_t>(std::ranges::count_if(entries, should_move));
  if (size > kSplitAt ? moved * 2 < size : moved < size) {
    return;
  }
  words = std::make_unique<WordLists>();
  const auto is_whole = [](const Entry& entry) { return entry.bytes == kWhole; };
  for (const Entry& entry : entries) {
    if (!is_whole(entry)) {
      WordLists::for_each_part(
          entry, [&](std::uint32_t word, const Entry& part) { words->add(word, part); });
    }
  }
  entries.erase(std::remove_if(entries.begin(), entries.end(), std::not_fn(is_whole)),
                entries.end());
  entries.shrink_to_fit();
  drop_whole_if_empty();
}

void Block::Lists::drop_whole_if_empty() {
  if (whole != nullptr && whole->is_empty()) {
    whole.reset();
  }
}

}  // namespace barracuda::detector
