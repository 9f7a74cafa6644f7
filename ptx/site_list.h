// A site table that grows while others hold it: whoever took it goes on reading what it was then. A
// report is made again and again while the program runs, and the tables are too large to be copied
// for each.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>

#include "ptx/site_table.h"

namespace barracuda::ptx {

// Copies share the table. One object is for one thread at a time, copies of it for any.
class SiteList {
 public:
  SiteList() = default;

  SiteList(std::initializer_list<Site> sites) : table_(std::make_shared<SiteTable>(sites)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): the same sites
  operator const SiteTable&() const { return *table_; }

  [[nodiscard]] const SiteTable& table() const { return *table_; }

  [[nodiscard]] std::size_t size() const { return table_->size(); }

  const Site& operator[](std::size_t index) const { return (*table_)[index]; }

  // To be changed by this holder alone: copies the table if others have it.
  SiteTable& own() {
    if (table_.use_count() != 1) {
      table_ = std::make_shared<SiteTable>(*table_);
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // what others read before they let go
    return *table_;
  }

 private:
  std::shared_ptr<SiteTable> table_ = std::make_shared<SiteTable>();
};

}  // namespace barracuda::ptx
