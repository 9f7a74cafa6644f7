// K and C of one warp (BARRACUDA, PLDI 2017, Figure 2): the paths that its lanes are on, and what
// the lanes of each path know. Lanes of one path run in lockstep, so that between two instructions
// they know the same, and one clock a path is lossless.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device_logger/site_info.h"
#include "host_detector/clock/clock.h"
#include "host_detector/lanes.h"

namespace barracuda::detector::paper {

// An operation of one lane at one time: E(t).
struct Epoch {
  CtaKey cta{};
  std::uint32_t warp = 0, lane = 0;
  Time time = 0;
};

// Where the paths of a branch begin and meet. A meeting is a place of the code;
// wire::kNoMeeting: where the function ends.
struct Branch {
  std::uint64_t meeting = 0;
  std::uint32_t stack = 0;  // of the lanes that branch
  std::uint32_t site = 0;
};

// Lanes of the warp that are on other paths than a lane, and the branch that took them there.
struct Inactive {
  std::uint32_t lanes = 0;
  std::uint32_t site = 0;
};

class WarpPaths {
 public:
  WarpPaths(CtaKey cta, std::uint32_t warp, std::uint32_t lanes, const Clock& initial);

  [[nodiscard]] CtaKey cta() const { return cta_; }

  [[nodiscard]] std::uint32_t warp() const { return warp_; }

  [[nodiscard]] std::uint32_t alive() const { return alive_; }

  // The time of what the lanes do now.
  [[nodiscard]] Time now() const { return now_; }

  [[nodiscard]] Inactive inactive(std::uint32_t lane) const;

  // Each live lane is on one path, and every path and frame has those that hang from it.
  [[nodiscard]] bool is_valid() const;

  // `earlier` is before what lane `later` does now: E ≼ C_t.
  [[nodiscard]] bool is_before(const Epoch& earlier, std::uint32_t later) const;

  // Holds for a CTA's clock as a whole: what a lane knows of other launches.
  [[nodiscard]] const Clock& clock_of(std::uint32_t lane) const { return paths_[at_[lane]].clock; }

  // C_t.
  [[nodiscard]] Clock known_to(std::uint32_t lane) const;
  // The join of C_t of the paths of `lanes`, at the end of an instruction.
  [[nodiscard]] Clock known_to_paths(std::uint32_t lanes) const;

  // The paths of `lanes` learn it.
  void learn(std::uint32_t lanes, const Clock& clock);
  // ENDINSN for the paths of `lanes`.
  void end_instruction(std::uint32_t lanes);

  // IF, and the moment that ELSE marks: those of `lanes` that are `taken` go one way, the others
  // another.
  void branch(std::uint32_t lanes, std::uint32_t taken, const Branch& branch);
  // Of a branch of many ways: `lanes` go one of them, the others of their path will say theirs.
  void take_way(std::uint32_t lanes, const Branch& branch);
  // FI: `lanes` have come to where their paths meet.
  void meet(std::uint32_t lanes, const Branch& branch);
  // They have left the function that they were in with call stack `stack`.
  void leave_function(std::uint32_t lanes, std::uint32_t stack);
  void exit(std::uint32_t lanes);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Path {
    std::uint32_t lanes = 0;
    std::uint32_t frame = kNone;    // that it is a way of
    std::uint32_t frames = 0;       // whose ways part from it
    std::uint32_t parting = kNone;  // of these, one whose ways are not all known
    Clock clock;
    Time together = 0;  // its lanes know each other up to here, besides
  };

  struct Frame {
    std::uint32_t parent = 0;  // the path it parted from
    std::uint32_t members = 0;
    std::uint32_t ways = 0;  // paths that are left of it
    Branch branch;
    std::array<Time, wire::kWarpLanes> left{};  // when a lane had come to the meeting
  };

  template <typename Visit>
  void for_each_path(std::uint32_t lanes, Visit visit) const;
  [[nodiscard]] Clock known_to_path(const Path& path) const;
  [[nodiscard]] bool went_ahead(const Path& path, std::uint32_t lane, Time time) const;
  std::uint32_t new_path();
  std::uint32_t frame_for(std::uint32_t path, std::uint32_t members, const Branch& branch);
  void join_lanes(std::uint32_t path);
  void part(std::uint32_t path, std::uint32_t lanes, std::uint32_t frame);
  void rejoin(std::uint32_t path, std::uint32_t lanes);
  void free_if_empty(std::uint32_t path);

  CtaKey cta_;
  std::uint32_t warp_;
  std::uint32_t absent_;  // lanes that do not exist
  std::uint32_t alive_;
  Time now_ = 1;
  std::vector<Path> paths_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_paths_, free_frames_;
  std::array<std::uint32_t, wire::kWarpLanes> at_{};
};

}  // namespace barracuda::detector::paper
