// What streams, events, synchronising calls and the legacy default stream order, held against a
// list of all that was ever put into streams and the pairs of it that CUDA orders: what lies on a
// way along such pairs is ordered, and nothing else.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "host_detector/stream_order.h"
#include "tests/oracle/host_detector/work_number.h"

namespace barracuda::oracle {
namespace {

using detector::EventKey;
using detector::LaunchId;
using detector::StreamKey;
using detector::WorkId;

using Ids = std::set<std::uint32_t>;

struct Choice {
  std::uint8_t what = 0, stream = 0, event = 0;
};

// All that the host asked for, each with everything that must be over before it.
class History {
 public:
  static constexpr std::uint32_t kNoWork = 0;

  struct Stream {
    std::uint32_t number = 0;  // of its creation; 0 is the legacy stream
    bool is_blocking = true;
  };

  // Something in a stream. `also` are entries that it waits for.
  std::size_t put(const Stream& stream, std::uint32_t work, const std::vector<std::size_t>& also) {
    Entry entry{.stream = stream, .work = work};
    for (std::size_t older = 0; older < entries_.size(); ++older) {
      if (is_ordered(entries_[older], entry)) {
        follow(entry, older);
      }
    }
    for (const std::size_t older : also) {
      follow(entry, older);
    }
    entries_.push_back(entry);
    return entries_.size() - 1;
  }

  // The host waits: for one entry, for a stream, or for all. Everything after it comes after that.
  void wait_for(std::size_t older) {
    Entry entry{.is_host = true};
    follow(entry, older);
    entries_.push_back(std::move(entry));
  }

  void wait_for(const Stream& stream) {
    Entry entry{.stream = stream, .is_host = true};
    for (std::size_t older = 0; older < entries_.size(); ++older) {
      if (entries_[older].is_host || is_ordered(entries_[older], {.stream = stream})) {
        follow(entry, older);
      }
    }
    entries_.push_back(std::move(entry));
  }

  void wait_for_all() {
    Entry entry{.is_host = true};
    for (std::size_t older = 0; older < entries_.size(); ++older) {
      follow(entry, older);
    }
    entries_.push_back(std::move(entry));
  }

  [[nodiscard]] const Ids& before(std::size_t entry) const { return entries_[entry].before; }

  [[nodiscard]] Ids host_waited() const {
    Ids waited;
    for (const Entry& entry : entries_) {
      if (entry.is_host) {
        waited.insert(entry.before.begin(), entry.before.end());
      }
    }
    return waited;
  }

 private:
  struct Entry {
    Stream stream;
    std::uint32_t work = kNoWork;
    bool is_host = false;
    Ids before;  // works
  };

  // "API synchronization behavior" and "Stream synchronization behavior" of the CUDA Driver API.
  static bool is_ordered(const Entry& older, const Entry& newer) {
    if (older.is_host || older.stream.number == newer.stream.number) {
      return true;
    }
    return (older.stream.number == 0 && newer.stream.is_blocking) ||
           (newer.stream.number == 0 && older.stream.is_blocking);
  }

  void follow(Entry& entry, std::size_t older) const {
    const Entry& other = entries_[older];
    entry.before.insert(other.before.begin(), other.before.end());
    if (other.work != kNoWork) {
      entry.before.insert(other.work);
    }
  }

  std::vector<Entry> entries_;
};

// Drives both. Work is numbered as launches and copies are; copies that share a number are one work
// each for the history.
class Both {
 public:
  void step(const Choice& choice) {
    const std::size_t slot = choice.stream % kStreams;
    const StreamKey key{slot};
    RC_LOG(fmt::format("{} of stream {} event {}\n", choice.what % 14, slot, choice.event));
    switch (choice.what % 14) {
      case 0:
      case 1:
      case 2:
        launch(key);
        break;
      case 12:
      case 13:
        launch_programmatic(key);
        break;
      case 3:
      case 4:
      case 5:
        copy(key);
        break;
      case 6:
      case 7:
        engine_.record_event(EventKey{choice.event % kEvents}, key);
        recorded_[choice.event % kEvents] = history_.put(stream(key), History::kNoWork, {});
        break;
      case 8:
      case 9:
        wait_event(choice.event % kEvents, key);
        break;
      case 10:
        host_waits(choice, key);
        break;
      default:
        if (slot != 0) {
          renew(choice, key);
        }
    }
  }

  [[nodiscard]] bool has_shared() const { return has_shared_; }

  [[nodiscard]] bool has_prerequisites() const { return has_prerequisites_; }

 private:
  static constexpr std::size_t kStreams = 5, kEvents = 3;

  const History::Stream& stream(StreamKey key) {
    const auto slot = key.number;
    if (slot != 0 && !streams_.contains(slot)) {
      streams_[slot] = {.number = ++created_, .is_blocking = true};
      engine_.create_stream(key, false);
    }
    return streams_[slot];
  }

  void renew(const Choice& choice, StreamKey key) {
    stream(key);
    engine_.destroy_stream(key);
    streams_[key.number] = {.number = ++created_, .is_blocking = choice.event % 2 == 0};
    engine_.create_stream(key, choice.event % 2 != 0);
  }

  void wait_event(std::size_t event, StreamKey key) {
    const History::Stream& waiting = stream(key);
    engine_.wait_event(key, EventKey{event});
    if (const auto record = recorded_.find(event); record != recorded_.end()) {
      history_.put(waiting, History::kNoWork, {record->second});
    }
  }

  void host_waits(const Choice& choice, StreamKey key) {
    const std::size_t event = choice.event % kEvents;
    if (choice.event / 8 % 3 == 0) {
      engine_.synchronize_stream(key);
      history_.wait_for(stream(key));
    } else if (choice.event / 8 % 3 == 1) {
      engine_.synchronize_event(EventKey{event});
      if (const auto record = recorded_.find(event); record != recorded_.end()) {
        history_.wait_for(record->second);
      }
    } else if (choice.event / 32 % 3 == 0) {
      engine_.synchronize_device();
      history_.wait_for_all();
    }
  }

  void launch(StreamKey key) {
    const History::Stream& in = stream(key);
    const LaunchId id{++launches_};
    check(id, engine_.launch(key, id), history_.put(in, new_work(id), {}));
  }

  // With a prerequisite, later work comes after it and after its end, and it after what is before
  // its prerequisite.
  void launch_programmatic(StreamKey key) {
    const History::Stream& in = stream(key);
    const LaunchId id{++launches_};
    const detector::CopyId end = detector::CopyId{++copies_};
    const Ids waited = closure(engine_.host_waited());
    const detector::ProgrammaticOrder order = engine_.launch_programmatic(key, id, end);
    if (order.prerequisite == LaunchId{}) {
      check(id, order.ordered_after, history_.put(in, new_work(id), {}));
      return;
    }
    has_prerequisites_ = true;
    const auto prerequisite = static_cast<std::uint32_t>(order.prerequisite);
    RC_ASSERT(!waited.contains(prerequisite));
    RC_ASSERT(std::ranges::count(order.ordered_after, WorkId(order.prerequisite)) == 1);
    check(end, order.ordered_after, history_.put(in, new_work(end), {}));
    history_.put(in, new_work(id), {});
    Ids before = closure(order.ordered_after);
    before.erase(prerequisite);
    before_[static_cast<std::uint32_t>(id)] = before;
  }

  void copy(StreamKey key) {
    const History::Stream& in = stream(key);
    const detector::CopyOrder order = engine_.copy(key, detector::CopyId{++copies_});
    const std::size_t entry = history_.put(in, new_work(order.id), {});
    RC_ASSERT(closure(order.host_waited) == ids_of(history_.host_waited()));
    check(order.id, order.ordered_after, entry);
    has_shared_ = has_shared_ || order.ordered_after == std::vector<WorkId>{order.id};
  }

  std::uint32_t new_work(WorkId id) {
    works_.push_back(id);
    return static_cast<std::uint32_t>(works_.size());
  }

  // What the engine orders before `id` is what the history does.
  void check(WorkId id, const std::vector<WorkId>& ordered_after, std::size_t entry) {
    Ids before = closure(ordered_after);
    RC_ASSERT(before == ids_of(history_.before(entry)));
    before.erase(number_of(id));
    before_[number_of(id)] = before;
  }

  [[nodiscard]] Ids ids_of(const Ids& works) const {
    Ids ids;
    for (const std::uint32_t work : works) {
      ids.insert(number_of(works_[work - 1]));
    }
    return ids;
  }

  [[nodiscard]] Ids closure(const std::vector<WorkId>& newest) const {
    Ids all;
    for (const WorkId id : newest) {
      all.insert(number_of(id));
      if (const auto known = before_.find(number_of(id)); known != before_.end()) {
        all.insert(known->second.begin(), known->second.end());
      }
    }
    return all;
  }

  detector::StreamOrder engine_;
  History history_;
  std::map<std::size_t, History::Stream> streams_;
  std::map<std::size_t, std::size_t> recorded_;
  std::map<std::uint32_t, Ids> before_;  // by number: all numbers before it
  std::vector<WorkId> works_;
  std::uint32_t created_ = 0, launches_ = 0, copies_ = 0;

  bool has_shared_ = false, has_prerequisites_ = false;
};

}  // namespace
}  // namespace barracuda::oracle

TEST_CASE("streams order what CUDA says that they order") {
  using namespace barracuda;
  CHECK(rc::check([] {
    const auto byte = rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>());
    const auto choices =
        *rc::gen::container<std::vector<oracle::Choice>>(rc::gen::build<oracle::Choice>(
            rc::gen::set(&oracle::Choice::what, byte), rc::gen::set(&oracle::Choice::stream, byte),
            rc::gen::set(&oracle::Choice::event, byte)));
    oracle::Both both;
    for (const oracle::Choice& choice : choices) {
      both.step(choice);
    }
    RC_CLASSIFY(both.has_shared(), "copies share a number");
    RC_CLASSIFY(both.has_prerequisites(), "launches have prerequisites");
  }));
}
