#include "emulator/state/weak_recorder.h"

#include <algorithm>
#include <string>

#include "emulator/state/launch.h"
#include "emulator/state/position.h"

namespace barracuda::emulator {
namespace {

// So often in a row another thread has read the old value at one place: it polls.
constexpr std::uint32_t kPolling = 8;

}  // namespace

Decision WeakRecorder::decision_of(WeakKind kind, const ThreadName& name,
                                   std::uint64_t number) const {
  return {.launch = launch_.grid_id,
          .kernel = std::string(launch_.program.kernel),
          .block = position_in(launch_.config.grid, name.block),
          .thread = position_in(launch_.config.block, name.thread),
          .kind = kind,
          .number = number};
}

WeakReader WeakRecorder::reader_of(const ThreadName& name, const WeakSite& site) const {
  return {.block = position_in(launch_.config.grid, name.block),
          .thread = position_in(launch_.config.block, name.thread),
          .at = *site.place};
}

void WeakRecorder::add_end(const PendingStore& store, WeakEnd end, std::uint64_t turns) {
  if (!weakness_.report || store.number == 0) {
    return;
  }
  WeakEvent event{.decision = decision_of(WeakKind::kStore, store.thread, store.number),
                  .until = end,
                  .turns = turns,
                  .space = store.space,
                  .address = store.logged_address,
                  .bytes = store.logged_bytes,
                  .at = *store.site->place,
                  .reader = {}};
  const bool by_time = end == WeakEnd::kAge || end == WeakEnd::kPoll;
  if (by_time && !store.site->is_strong && store.polls >= kPolling) {
    log_.starvations.push_back(event);
    log_.starvations.back().was_read = true;
    log_.starvations.back().reader = reader_of(store.poller, *store.poller_site);
  }
  if (store.reader_site != nullptr) {
    event.was_read = true;
    event.reader = reader_of(store.reader, *store.reader_site);
  }
  log_.events.push_back(std::move(event));
}

void WeakRecorder::add_load(WeakKind kind, const ThreadName& name, std::uint64_t number,
                            const WeakSite& site, const WeakAccess& access) {
  if (weakness_.report) {
    log_.events.push_back({.decision = decision_of(kind, name, number),
                           .until = WeakEnd::kRead,
                           .space = access.space,
                           .address = access.logged_address,
                           .bytes = access.bytes,
                           .at = *site.place,
                           .reader = {}});
  }
}

void WeakRecorder::add_drain(const WeakThread& thread, const PendingStores& pending) {
  std::array<std::size_t, kWeakSpaces> counts{};
  for (const StoreId id : thread.buffer.stores) {
    ++counts[static_cast<std::size_t>(pending[id].space)];
  }
  for (std::size_t space = 0; space < counts.size(); ++space) {
    DrainLengths& lengths = log_.drains[space];
    ++lengths[std::min(counts[space], lengths.size() - 1)];
  }
}

void WeakRecorder::report() {
  if (weakness_.report && !log_.empty()) {
    weakness_.report(log_);
  }
  log_ = {};
}

}  // namespace barracuda::emulator
