// The live objects of one kind by their handles (their addresses, as CUDA's opaque pointer types).
// find() keeps the object alive for its caller when another thread destroys it meanwhile.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace barracuda::emulator::driver {

template <typename Object, typename Handle>
class HandleTable {
 public:
  Handle insert(std::shared_ptr<Object> object) {
    DEBUG_ASSERT(object != nullptr);
    const Handle handle = handle_of(*object);
    const std::unique_lock lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }

  std::shared_ptr<Object> find(Handle handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  // The object that is no longer live, or null.
  std::shared_ptr<Object> extract(Handle handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) {
      return nullptr;
    }
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  template <typename Predicate>
  void erase_if(const Predicate& predicate) {
    std::vector<std::shared_ptr<Object>> dead;  // destroyed after the lock is given back
    const std::unique_lock lock(mutex_);
    for (auto entry = objects_.begin(); entry != objects_.end();) {
      if (predicate(*entry->second)) {
        dead.push_back(std::move(entry->second));
        entry = objects_.erase(entry);
      } else {
        ++entry;
      }
    }
  }

  template <typename Visitor>
  void for_each(const Visitor& visit) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [handle, object] : objects_) {
      visit(*object);
    }
  }

  // Handles are opaque: nobody but this class looks behind one.
  static Handle handle_of(Object& object) { return reinterpret_cast<Handle>(&object); }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace barracuda::emulator::driver
