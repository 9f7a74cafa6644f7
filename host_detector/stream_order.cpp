#include "host_detector/stream_order.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/assert.h"
#include "host_detector/launches/launch_order.h"

namespace barracuda::detector {
namespace {

// Launches none of which is before another.
using Frontier = std::vector<WorkId>;

struct Stream {
  Frontier done_before_next;
  LaunchId last_kernel{};  // 0: something has come after it
  bool is_non_blocking = false;
};

}  // namespace

struct StreamOrder::State {
  // The stream whose copies nothing has come between so far, and what these are called.
  struct Run {
    StreamKey stream{};
    CopyId id{};  // 0: there is none
  };

  Run copies;
  boost::unordered_flat_map<StreamKey, Stream> streams;
  boost::unordered_flat_map<EventKey, Frontier> events;
  Frontier host;  // what the host has waited for
  // Of destroyed streams, whose work goes on: the legacy stream awaits that of blocking ones.
  Frontier orphaned, orphaned_non_blocking;
  LaunchOrder order;

  [[nodiscard]] bool covers(const Frontier& frontier, WorkId launch) const {
    return std::ranges::any_of(
        frontier, [&](WorkId other) { return other == launch || order.is_before(launch, other); });
  }

  // None of it is before another of it.
  [[nodiscard]] bool is_valid(const Frontier& frontier) const {
    return std::ranges::all_of(frontier, [&](WorkId launch) {
      return order.knows(launch) && std::ranges::none_of(frontier, [&](WorkId other) {
               return order.is_before(launch, other);
             });
    });
  }

  void add(Frontier& frontier, const Frontier& more) const {
    DEBUG_ASSERT(is_valid(frontier) && is_valid(more));
    // The host may wait for a thousand streams: what is added is not compared with itself.
    Frontier fresh;
    std::ranges::copy_if(more, std::back_inserter(fresh),
                         [&](WorkId launch) { return !covers(frontier, launch); });
    std::erase_if(frontier, [&](WorkId other) { return covers(fresh, other); });
    frontier.insert(frontier.end(), fresh.begin(), fresh.end());
    DEBUG_ASSERT(is_valid(frontier));
  }

  // From now on `before` is over before the next operation of `stream`.
  void put(StreamKey key, Frontier before) {
    Stream& stream = streams[key];
    stream.done_before_next = std::move(before);
    stream.last_kernel = {};
  }

  // All that is over before the next operation of `stream`.
  [[nodiscard]] Frontier before_next(StreamKey key) {
    Frontier all = before_next_of_streams(key);
    add(all, host);
    return all;
  }

  // What of it streams alone tell.
  [[nodiscard]] Frontier before_next_of_streams(StreamKey key) {
    const Stream stream = streams[key];
    Frontier all = stream.done_before_next;
    if (key == kLegacyStream) {
      for (const auto& [other_key, other] : streams) {
        if (!other.is_non_blocking) {
          add(all, other.done_before_next);
        }
      }
      add(all, orphaned);
    } else if (!stream.is_non_blocking) {
      add(all, streams[kLegacyStream].done_before_next);
    }
    return all;
  }
};

StreamOrder::StreamOrder() : state_(std::make_unique<State>()) {}

StreamOrder::~StreamOrder() = default;

void StreamOrder::create_stream(StreamKey stream, bool non_blocking) {
  state_->copies = {};
  state_->streams[stream] = {.is_non_blocking = non_blocking};
}

void StreamOrder::destroy_stream(StreamKey stream) {
  state_->copies = {};
  const auto known = state_->streams.find(stream);
  if (known == state_->streams.end()) {
    return;
  }
  state_->add(known->second.is_non_blocking ? state_->orphaned_non_blocking : state_->orphaned,
              known->second.done_before_next);
  state_->streams.erase(known);
}

CopyOrder StreamOrder::copy(StreamKey stream, CopyId fresh) {
  if (state_->copies.id != CopyId{} && state_->copies.stream == stream) {
    const CopyId same = state_->copies.id;
    return {.id = same, .ordered_after = {same}, .host_waited = state_->host};
  }
  CopyOrder order{.id = fresh, .ordered_after = launch(stream, fresh), .host_waited = state_->host};
  state_->copies = {.stream = stream, .id = fresh};
  return order;
}

std::vector<WorkId> StreamOrder::launch(StreamKey stream, WorkId id) {
  ASSERT(id != WorkId{} && !state_->order.knows(id));
  state_->copies = {};
  Frontier before = state_->before_next(stream);
  state_->order.add(id, before);
  state_->put(stream, {id});
  if (!id.is_copy()) {
    state_->streams[stream].last_kernel = id.launch();
  }
  return before;
}

ProgrammaticOrder StreamOrder::launch_programmatic(StreamKey stream, LaunchId id, CopyId fresh) {
  const LaunchId before_it = state_->streams[stream].last_kernel;
  Frontier before = state_->before_next(stream);
  // What the host waited for is over.
  if (std::ranges::find(before, WorkId(before_it)) == before.end() ||
      state_->covers(state_->host, before_it)) {
    return {.ordered_after = launch(stream, id)};
  }
  state_->copies = {};
  state_->order.add(fresh, before);
  state_->order.add(id, before, before_it);
  state_->put(stream, {fresh, id});
  state_->streams[stream].last_kernel = id;
  return {
      .ordered_after = std::move(before), .prerequisite = before_it, .prerequisite_over = fresh};
}

void StreamOrder::launch_unknown(StreamKey stream) {
  state_->copies = {};
  state_->put(stream, state_->before_next(stream));
}

const std::vector<WorkId>& StreamOrder::host_waited() const {
  return state_->host;
}

bool StreamOrder::host_waited_for(WorkId work) const {
  return state_->covers(state_->host, work);
}

bool StreamOrder::is_before(WorkId first, WorkId second) const {
  return state_->order.is_before(first, second);
}

bool StreamOrder::is_after_all(WorkId work) const {
  return state_->order.is_after_all(work);
}

void StreamOrder::record_event(EventKey event, StreamKey stream) {
  state_->copies = {};
  // A command like others: put into the legacy stream, it stands between those of blocking streams.
  Frontier before = state_->before_next(stream);
  state_->events[event] = before;
  state_->put(stream, std::move(before));
}

void StreamOrder::wait_event(StreamKey stream, EventKey event) {
  state_->copies = {};
  const auto known = state_->events.find(event);
  if (known == state_->events.end()) {
    return;  // never recorded: the wait does nothing
  }
  Frontier before = state_->before_next(stream);
  state_->add(before, known->second);
  state_->put(stream, std::move(before));
}

void StreamOrder::synchronize_stream(StreamKey stream) {
  state_->copies = {};
  state_->add(state_->host, state_->before_next_of_streams(stream));
}

void StreamOrder::forget_event(EventKey event) {
  state_->events.erase(event);
}

void StreamOrder::synchronize_event(EventKey event) {
  state_->copies = {};
  const auto known = state_->events.find(event);
  if (known != state_->events.end()) {
    state_->add(state_->host, known->second);
  }
}

void StreamOrder::synchronize_device() {
  state_->copies = {};
  for (const auto& [key, stream] : state_->streams) {
    state_->add(state_->host, stream.done_before_next);
  }
  state_->add(state_->host, state_->orphaned);
  state_->add(state_->host, state_->orphaned_non_blocking);
}

}  // namespace barracuda::detector
