#include "host_detector/paper/warp_paths.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::detector::paper {

WarpPaths::WarpPaths(CtaKey cta, std::uint32_t warp, std::uint32_t lanes, const Clock& initial)
    : cta_(cta), warp_(warp), absent_(~lanes), alive_(lanes) {
  paths_.push_back({.lanes = lanes, .clock = initial});
}

bool WarpPaths::is_valid() const {
  std::uint32_t seen = 0;
  std::vector<std::uint32_t> ways(frames_.size()), children(paths_.size());
  for (std::uint32_t index = 0; index < paths_.size(); ++index) {
    const Path& path = paths_[index];
    const bool are_there = lanes_where(path.lanes, [&](std::uint32_t lane) {
                             return at_[lane] == index;
                           }) == path.lanes;
    if ((seen & path.lanes) != 0 || !are_there ||
        (path.frame != kNone && path.frame >= frames_.size()) ||
        (path.parting != kNone && path.parting >= frames_.size())) {
      return false;
    }
    seen |= path.lanes;
    if (path.frame != kNone) {
      ++ways[path.frame];
    }
  }
  for (std::uint32_t index = 0; index < frames_.size(); ++index) {
    if (std::ranges::find(free_frames_, index) != free_frames_.end()) {
      continue;
    }
    if (frames_[index].parent >= paths_.size() || frames_[index].ways != ways[index]) {
      return false;
    }
    ++children[frames_[index].parent];
  }
  for (std::uint32_t index = 0; index < paths_.size(); ++index) {
    if (paths_[index].frames != children[index]) {
      return false;
    }
  }
  return seen == alive_;
}

template <typename Visit>
void WarpPaths::for_each_path(std::uint32_t lanes, Visit visit) const {
  while (lanes != 0) {
    const std::uint32_t path = at_[first_lane(lanes)];
    const std::uint32_t some = lanes & paths_[path].lanes;
    lanes &= ~some;
    visit(path, some);
  }
}

Clock WarpPaths::known_to_path(const Path& path) const {
  Clock known = path.clock;
  if (path.together != 0) {
    const WarpTime each_other{
        .slot = warp_slot(warp_), .lanes = path.lanes | absent_, .time = path.together};
    known.raise(cta_, {&each_other, 1});
  }
  return known;
}

Clock WarpPaths::known_to(std::uint32_t lane) const {
  Clock known = known_to_path(paths_[at_[lane]]);
  const WarpTime own{.slot = warp_slot(warp_), .lanes = std::uint32_t{1} << lane, .time = now_};
  known.raise(cta_, {&own, 1});
  return known;
}

Clock WarpPaths::known_to_paths(std::uint32_t lanes) const {
  Clock known;
  for_each_path(
      lanes, [&](std::uint32_t path, std::uint32_t) { known.join(known_to_path(paths_[path])); });
  return known;
}

// On hardware without lockstep a lane may have come to a meeting before another one of its warp
// did what comes before it. In lockstep it would have waited.
bool WarpPaths::went_ahead(const Path& path, std::uint32_t lane, Time time) const {
  for (std::uint32_t frame = path.frame; frame != kNone;
       frame = paths_[frames_[frame].parent].frame) {
    const Time left = frames_[frame].left[lane];
    if (left != 0 && time >= left) {
      return true;
    }
  }
  return false;
}

bool WarpPaths::is_before(const Epoch& earlier, std::uint32_t later) const {
  const Path& path = paths_[at_[later]];
  if (earlier.cta == cta_ && earlier.warp == warp_) {
    const bool is_together = (path.lanes >> earlier.lane & 1) != 0;
    if (earlier.lane == later || (is_together && earlier.time <= path.together) ||
        went_ahead(path, earlier.lane, earlier.time)) {
      return true;
    }
  }
  return path.clock.at(
             {.cta = earlier.cta, .slot = warp_slot(earlier.warp), .lane = earlier.lane}) >=
         earlier.time;
}

Inactive WarpPaths::inactive(std::uint32_t lane) const {
  std::uint32_t inside = paths_[at_[lane]].lanes;
  for (std::uint32_t frame = paths_[at_[lane]].frame; frame != kNone;) {
    const Frame& here = frames_[frame];
    const std::uint32_t others =
        lanes_where(here.members & alive_ & ~inside,
                    [&](std::uint32_t other) { return here.left[other] == 0; });
    if (others != 0) {
      return {.lanes = others, .site = here.branch.site};
    }
    inside |= here.members | paths_[here.parent].lanes;
    frame = paths_[here.parent].frame;
  }
  return {};
}

void WarpPaths::learn(std::uint32_t lanes, const Clock& clock) {
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t) {
    if (!paths_[path].clock.covers(clock)) {
      paths_[path].clock.join(clock);
    }
  });
}

void WarpPaths::end_instruction(std::uint32_t lanes) {
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t) { paths_[path].together = now_; });
  ++now_;
}

std::uint32_t WarpPaths::new_path() {
  if (!free_paths_.empty()) {
    const std::uint32_t path = free_paths_.back();
    free_paths_.pop_back();
    return path;
  }
  paths_.emplace_back();
  return static_cast<std::uint32_t>(paths_.size() - 1);
}

// A branch that meets where the branch does that a path is a way of, as each round of a loop, is a
// further way of that one: they would meet at the same moment.
std::uint32_t WarpPaths::frame_for(std::uint32_t path, std::uint32_t members,
                                   const Branch& branch) {
  const std::uint32_t outer = paths_[path].frame;
  if (outer != kNone && branch.meeting != wire::kNoMeeting &&
      frames_[outer].branch.meeting == branch.meeting &&
      frames_[outer].branch.stack == branch.stack) {
    return outer;
  }
  auto frame = static_cast<std::uint32_t>(frames_.size());
  if (free_frames_.empty()) {
    frames_.emplace_back();
  } else {
    frame = free_frames_.back();
    free_frames_.pop_back();
  }
  frames_[frame] = {.parent = path, .members = members, .branch = branch};
  ++paths_[path].frames;
  return frame;
}

// Puts what the lanes of a path know of each other into its clock: some are about to leave it.
void WarpPaths::join_lanes(std::uint32_t path) {
  paths_[path].clock = known_to_path(paths_[path]);
  paths_[path].together = 0;
}

// `lanes` of a path become a way of the frame.
void WarpPaths::part(std::uint32_t path, std::uint32_t lanes, std::uint32_t frame) {
  ASSERT(lanes != 0 && (lanes & ~paths_[path].lanes) == 0);
  join_lanes(path);
  const std::uint32_t way = new_path();
  ++frames_[frame].ways;
  paths_[way] = {.lanes = lanes, .frame = frame, .clock = paths_[path].clock};
  paths_[path].lanes &= ~lanes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    at_[first_lane(rest)] = way;
  }
}

void WarpPaths::branch(std::uint32_t lanes, std::uint32_t taken, const Branch& branch) {
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t some) {
    const std::uint32_t others = some & ~taken;
    if (others == 0 || others == some) {
      return;
    }
    const std::uint32_t frame = frame_for(path, some, branch);
    part(path, some & taken, frame);
    part(path, others, frame);
    free_if_empty(path);
  });
  DEBUG_ASSERT(is_valid());
}

void WarpPaths::take_way(std::uint32_t lanes, const Branch& branch) {
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t some) {
    if (paths_[path].parting == kNone) {
      if (some == paths_[path].lanes) {
        return;  // all go the same way
      }
      paths_[path].parting = frame_for(path, paths_[path].lanes, branch);
    }
    part(path, some, paths_[path].parting);
    if (paths_[path].lanes == 0) {
      paths_[path].parting = kNone;
    }
    free_if_empty(path);
  });
  DEBUG_ASSERT(is_valid());
}

// `lanes` of a path go back to the one that it parted from.
void WarpPaths::rejoin(std::uint32_t path, std::uint32_t lanes) {
  ASSERT(paths_[path].frame != kNone && (lanes & ~paths_[path].lanes) == 0);
  Frame& frame = frames_[paths_[path].frame];
  const std::uint32_t parent = frame.parent;
  join_lanes(path);
  if (paths_[parent].lanes != 0) {
    join_lanes(parent);
  }
  paths_[parent].together = 0;
  paths_[parent].clock.join(paths_[path].clock);
  paths_[parent].lanes |= lanes;
  paths_[path].lanes &= ~lanes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    at_[first_lane(rest)] = parent;
    frame.left[first_lane(rest)] = now_;
  }
  free_if_empty(path);
}

void WarpPaths::meet(std::uint32_t lanes, const Branch& branch) {
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t some) {
    while (paths_[path].frame != kNone) {
      const Frame& frame = frames_[paths_[path].frame];
      if (frame.branch.meeting != branch.meeting || frame.branch.stack != branch.stack) {
        break;
      }
      const std::uint32_t parent = frame.parent;
      rejoin(path, some);
      path = parent;
    }
  });
  DEBUG_ASSERT(is_valid());
}

void WarpPaths::leave_function(std::uint32_t lanes, std::uint32_t stack) {
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t some) {
    while (paths_[path].frame != kNone && frames_[paths_[path].frame].branch.stack == stack) {
      const std::uint32_t parent = frames_[paths_[path].frame].parent;
      rejoin(path, some);
      path = parent;
    }
  });
  DEBUG_ASSERT(is_valid());
}

void WarpPaths::exit(std::uint32_t lanes) {
  ASSERT((lanes & ~alive_) == 0);
  for_each_path(lanes, [&](std::uint32_t path, std::uint32_t some) {
    if (some != paths_[path].lanes) {
      join_lanes(path);
    }
    paths_[path].lanes &= ~some;
    free_if_empty(path);
  });
  alive_ &= ~lanes;
  DEBUG_ASSERT(is_valid());
}

void WarpPaths::free_if_empty(std::uint32_t path) {
  while (paths_[path].lanes == 0 && paths_[path].frames == 0 && paths_[path].frame != kNone) {
    const std::uint32_t frame = paths_[path].frame;
    paths_[path] = Path();
    free_paths_.push_back(path);
    ASSERT(frames_[frame].ways != 0);
    if (--frames_[frame].ways != 0) {
      return;
    }
    path = frames_[frame].parent;
    ASSERT(paths_[path].frames != 0);
    --paths_[path].frames;
    if (paths_[path].parting == frame) {
      paths_[path].parting = kNone;
    }
    free_frames_.push_back(frame);
  }
}

}  // namespace barracuda::detector::paper
