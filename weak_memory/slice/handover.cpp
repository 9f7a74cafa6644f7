#include "weak_memory/slice/handover.h"

#include <algorithm>
#include <tuple>

namespace barracuda::weak_memory {
namespace {

constexpr std::size_t kMostTries = 8;

bool is_strong(const wire::SiteInfo& info) {
  return info.order != wire::MemoryOrder::kWeak;
}

// The ways from one access to another through certain threads.
class Ways {
 public:
  // `only`: empty for all threads.
  Ways(const History& history, const std::vector<std::optional<std::size_t>>& sources,
       const AccessPair& pair, std::set<ThreadPlace> only)
      : history_(history), sources_(sources), pair_(pair), only_(std::move(only)) {}

  Handover run() {
    const HistoryAccess& first = history_.accesses()[pair_.first];
    const HistoryAccess& second = history_.accesses()[pair_.second];
    informed_[first.thread] = first.time;
    written_.resize(history_.accesses().size());
    written_[pair_.first] = true;
    while (go_forward()) {
    }
    needed_[second.thread] = second.time;
    while (go_back()) {
    }
    handover_.threads = {first.thread, second.thread};
    for (const auto& [thread, time] : needed_) {
      if (thread != first.thread && thread != second.thread) {
        handover_.threads.push_back(thread);
      }
    }
    return std::move(handover_);
  }

 private:
  [[nodiscard]] bool takes_part(const ThreadPlace& thread) const {
    return only_.empty() || only_.contains(thread);
  }

  // It comes behind what the thread knows of the first access.
  [[nodiscard]] bool is_informed(const ThreadPlace& thread, std::uint64_t time) const {
    const auto known = informed_.find(thread);
    return known != informed_.end() && known->second < time;
  }

  bool inform(const ThreadPlace& thread, std::uint64_t time) {
    const auto [known, is_new] = informed_.try_emplace(thread, time);
    const bool is_earlier = !is_new && time < known->second;
    known->second = std::min(known->second, time);
    return is_new || is_earlier;
  }

  bool go_forward() {
    bool grows = false;
    const auto& accesses = history_.accesses();
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const HistoryAccess& each = accesses[i];
      if (!takes_part(each.thread)) {
        continue;
      }
      const bool reads = sources_[i] && written_[*sources_[i]] && i != pair_.first;
      if (reads) {
        grows = inform(each.thread, each.time) || grows;
      }
      if (!written_[i] && (reads || is_informed(each.thread, each.time))) {
        written_[i] = grows = true;
      }
    }
    for (const HistoryBarrier& barrier : history_.barriers()) {
      if (std::ranges::none_of(barrier.arrivals, [&](const auto& arrival) {
            return takes_part(arrival.thread) && is_informed(arrival.thread, arrival.time);
          })) {
        continue;
      }
      for (const auto& arrival : barrier.arrivals) {
        if (arrival.waits && takes_part(arrival.thread) &&
            !is_informed(arrival.thread, arrival.time)) {
          grows = inform(arrival.thread, arrival.time) || grows;
        }
      }
    }
    return grows;
  }

  // What the thread does before `time` is on a way to the second access.
  bool need(const ThreadPlace& thread, std::uint64_t time) {
    const auto [known, is_new] = needed_.try_emplace(thread, time);
    const bool is_later = !is_new && time > known->second;
    known->second = std::max(known->second, time);
    return is_new || is_later;
  }

  [[nodiscard]] bool is_needed(const ThreadPlace& thread, std::uint64_t time) const {
    const auto known = needed_.find(thread);
    return known != needed_.end() && time < known->second;
  }

  bool go_back() {
    bool grows = false;
    const auto& accesses = history_.accesses();
    for (std::size_t i = accesses.size(); i-- > 0;) {
      const HistoryAccess& each = accesses[i];
      if (i == pair_.first || !sources_[i] || !written_[*sources_[i]] || !takes_part(each.thread) ||
          !is_needed(each.thread, each.time)) {
        continue;
      }
      const HistoryAccess& source = accesses[*sources_[i]];
      handover_.accesses.insert(i);
      handover_.sources[i] = *sources_[i];
      if (*sources_[i] != pair_.first) {
        handover_.accesses.insert(*sources_[i]);
      }
      // Its own read, too, if it is an atomic: then it may go on with the chain.
      grows = need(source.thread, source.time + 1) || grows;
    }
    for (std::size_t i = 0; i < history_.barriers().size(); ++i) {
      grows = go_back_through(i) || grows;
    }
    return grows;
  }

  bool go_back_through(std::size_t number) {
    const HistoryBarrier& barrier = history_.barriers()[number];
    bool grows = false;
    for (const auto& to : barrier.arrivals) {
      if (!to.waits || !takes_part(to.thread) || !is_needed(to.thread, to.time)) {
        continue;
      }
      for (const auto& from : barrier.arrivals) {
        if (from.thread != to.thread && takes_part(from.thread) &&
            is_informed(from.thread, from.time)) {
          handover_.barriers.insert(number);
          grows = need(from.thread, from.time) || grows;
        }
      }
      break;  // one who waits is enough: each of them waits for all
    }
    return grows;
  }

  const History& history_;
  const std::vector<std::optional<std::size_t>>& sources_;
  AccessPair pair_;
  std::set<ThreadPlace> only_;
  // From when on a thread may know of the first access; until when what it does may reach the
  // second.
  std::map<ThreadPlace, std::uint64_t> informed_, needed_;
  std::vector<bool> written_;  // by access: behind the first one
  Handover handover_;
};

// In which order the atomics of one place took place. The two records of one lie around its access,
// and those of others may lie between them; but each read what the one before it wrote.
class UpdateOrder {
 public:
  explicit UpdateOrder(const std::vector<HistoryAccess>& accesses) : accesses_(accesses) {}

  // A write with one record, or with a value that is not known.
  void write(std::size_t number) { last_ = number; }

  void begin(std::size_t number) {
    if (!sources_.contains(number)) {  // with one record it is over
      begun_.push_back(number);
    }
  }

  // Its value is there: which write it read from, if that is known. Those that have begun and must
  // have come before it have their places now.
  std::optional<std::size_t> end(std::size_t number) {
    if (const auto known = sources_.find(number); known != sources_.end()) {
      return known->second;
    }
    for (const std::size_t each : way_to(number)) {
      place(each);
    }
    place(number);
    return sources_[number];
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> value() const {
    return last_ ? accesses_[*last_].written : std::nullopt;
  }

  void place(std::size_t number) {
    sources_[number] = value() == accesses_[number].read ? last_ : std::nullopt;
    last_ = number;
    std::erase(begun_, number);
  }

  // Of those that have begun, the fewest that lead from the value that is there to the one it read.
  [[nodiscard]] std::vector<std::size_t> way_to(std::size_t number) const {
    const std::optional<std::uint64_t> wanted = accesses_[number].read;
    std::vector<std::vector<std::size_t>> ways = {{}};
    std::set<std::optional<std::uint64_t>> seen = {value()};
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::vector<std::size_t> way = ways[i];
      const auto at = way.empty() ? value() : accesses_[way.back()].written;
      if (at == wanted) {
        return way;
      }
      for (const std::size_t each : begun_) {
        if (each != number && accesses_[each].read == at &&
            seen.insert(accesses_[each].written).second) {
          ways.push_back(way);
          ways.back().push_back(each);
        }
      }
    }
    return {};
  }

  const std::vector<HistoryAccess>& accesses_;
  std::vector<std::size_t> begun_;
  std::optional<std::size_t> last_;
  std::map<std::size_t, std::optional<std::size_t>> sources_;
};

bool has_way(const Handover& handover) {
  return !handover.accesses.empty() || !handover.barriers.empty();
}

}  // namespace

Handovers::Handovers(const History& history) : history_(history) {
  link();
}

bool Handovers::synchronise(const HistoryAccess& write, const HistoryAccess& read) const {
  const wire::SiteInfo& writer = history_.site(write.site).info;
  const wire::SiteInfo& reader = history_.site(read.site).info;
  const bool is_flag = writer.flag_store && reader.poll;
  return (is_strong(writer) || is_flag) && (is_strong(reader) || is_flag) &&
         write.bytes == read.bytes && write.thread != read.thread;
}

// Of a load, the last write of the value that was read; of an atomic, the one before it. The
// records of an atomic lie around its access, so it reads at the second and writes at the first.
void Handovers::link() {
  const auto& accesses = history_.accesses();
  sources_.resize(accesses.size());
  std::vector<std::tuple<std::uint64_t, bool, std::size_t>> turns;  // time, whether it writes
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].reads && accesses[i].read) {
      turns.emplace_back(accesses[i].read_time, false, i);
    }
    if (accesses[i].writes && accesses[i].written) {
      turns.emplace_back(accesses[i].time, true, i);
    }
  }
  std::ranges::sort(turns);
  std::map<std::pair<MemoryPlace, std::uint64_t>, std::size_t> writes;  // the last, by value
  std::map<MemoryPlace, UpdateOrder> orders;
  for (const auto& [time, is_write, i] : turns) {
    UpdateOrder& order = orders.try_emplace(accesses[i].place, accesses).first->second;
    const bool is_update = accesses[i].writes && accesses[i].read && accesses[i].written;
    if (is_write) {
      is_update ? order.begin(i) : order.write(i);
      // One that leaves the value as it was is not the one that brought it.
      if (accesses[i].read != accesses[i].written) {
        writes[{accesses[i].place, *accesses[i].written}] = i;
      }
      continue;
    }
    const auto last = writes.find({accesses[i].place, *accesses[i].read});
    const std::optional<std::size_t> source = is_update              ? order.end(i)
                                              : last != writes.end() ? std::optional(last->second)
                                                                     : std::nullopt;
    if (source && *source != i && synchronise(accesses[*source], accesses[i])) {
      sources_[i] = source;
    }
  }
}

std::vector<Handover> Handovers::between(const AccessPair& pair) const {
  const ThreadPlace first = history_.accesses()[pair.first].thread;
  const ThreadPlace second = history_.accesses()[pair.second].thread;
  const Handover all = Ways(history_, sources_, pair, {}).run();
  if (all.threads.size() <= kMostThreads) {
    return {all};
  }
  std::vector<Handover> found;
  const auto add = [&](std::set<ThreadPlace> only) {
    if (Handover handover = Ways(history_, sources_, pair, std::move(only)).run();
        has_way(handover)) {
      found.push_back(std::move(handover));
    }
  };
  add({first, second});
  for (std::size_t i = 2; i < std::min(all.threads.size(), kMostTries); ++i) {
    add({first, second, all.threads[i]});
  }
  return found;
}

}  // namespace barracuda::weak_memory
