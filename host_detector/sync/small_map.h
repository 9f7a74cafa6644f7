// A map that mostly has one key or two. Its items lie in the order in which they came; they are
// looked through until they are many, and found by hash from then on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace barracuda::detector {

template <typename Key, typename Value>
class SmallMap {
 public:
  using Item = std::pair<Key, Value>;

  [[nodiscard]] std::size_t size() const { return items_.size(); }

  [[nodiscard]] auto begin() const { return items_.begin(); }

  [[nodiscard]] auto end() const { return items_.end(); }

  // Null if there is none. Pointers and references hold until the next key comes or goes.
  [[nodiscard]] Value* find(const Key& key) {
    const std::size_t at = place_of(key);
    return at == kNowhere ? nullptr : &items_[at].second;
  }

  [[nodiscard]] const Value* find(const Key& key) const {
    const std::size_t at = place_of(key);
    return at == kNowhere ? nullptr : &items_[at].second;
  }

  // A new one is Value{}.
  Value& operator[](const Key& key) {
    if (Value* const known = find(key)) {
      return *known;
    }
    items_.emplace_back(std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>{});
    if (index_ != nullptr) {
      index_->emplace(key, items_.size() - 1);
    } else if (items_.size() > kFew) {
      make_index();
    }
    return items_.back().second;
  }

  // The oldest.
  void drop_first(std::size_t count) {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
    index_.reset();
    if (items_.size() > kFew) {
      make_index();
    }
  }

 private:
  static constexpr std::size_t kFew = 8;
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  [[nodiscard]] std::size_t place_of(const Key& key) const {
    if (index_ != nullptr) {
      const auto place = index_->find(key);
      return place == index_->end() ? kNowhere : place->second;
    }
    const auto place = std::ranges::find(items_, key, &Item::first);
    return place == items_.end() ? kNowhere : static_cast<std::size_t>(place - items_.begin());
  }

  void make_index() {
    index_ = std::make_unique<boost::unordered_flat_map<Key, std::size_t>>();
    index_->reserve(items_.size());
    for (std::size_t at = 0; at < items_.size(); ++at) {
      index_->emplace(items_[at].first, at);
    }
  }

  std::vector<Item> items_;
  std::unique_ptr<boost::unordered_flat_map<Key, std::size_t>> index_;  // null while they are few
};

}  // namespace barracuda::detector
