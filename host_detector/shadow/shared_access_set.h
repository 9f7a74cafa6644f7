// FastTrack's read-shared state, for atomics as well: the concurrent accesses of one kind to the
// same bytes, by however many warps. A list that is only added to, and looked through only by
// accesses that may conflict with it. What is alike of them is kept once, and the warps of a CTA
// that did the same at the same time are one member of 16 bytes: that is what a table costs which
// all blocks read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.h"
#include "host_detector/clock/clock.h"
#include "host_detector/shadow/cell.h"

namespace barracuda::detector {

// Accesses of one kind never conflict with each other, whichever threads make them.
enum class SharedAccessKind : std::uint8_t {
  kNone,
  kReads,
  kAtomics1,
  kAtomics2,
  kAtomics4,
  kAtomics8,  // strong, of this many bytes, for the whole device; strong loads as well
};

inline constexpr std::size_t kSharedAccessKinds = 6;
static_assert(static_cast<std::size_t>(SharedAccessKind::kAtomics8) + 1 == kSharedAccessKinds);

class SharedAccessSet {
 public:
  explicit SharedAccessSet(SharedAccessKind kind) : kind_(kind) {}

  [[nodiscard]] SharedAccessKind kind() const { return kind_; }

  [[nodiscard]] bool is_empty() const { return size_ == 0; }

  // Members; a cell may share one with others.
  [[nodiscard]] std::size_t size() const { return size_; }

  // Every group has members, and every member a warp; they are as many as it says.
  [[nodiscard]] bool is_valid() const;

  // Newer cells may stand for older ones of their warp until compact().
  void add(const Cell& cell);

  // Calls visit(cell) for all.
  template <typename Visit>
  void look_at(Visit visit) const;

  // The same, and keeps what visit(cell) makes of them; one without bytes goes.
  template <typename Visit>
  void update(Visit visit);

  // The same for cells of some CTAs: those for which concerns(cta) is true.
  template <typename Concerns, typename Visit>
  void update_of(Concerns concerns, Visit visit);

  // All members at these bytes but those of the CTA `but_of` (none: CtaKey{}) come before every
  // thread of `launch` that knows what `by` had. Until a member comes in.
  struct AllBefore {
    Bytes bytes;
    LaunchId launch{};
    Snapshot by;
    CtaKey but_of{};
  };

  [[nodiscard]] const std::optional<AllBefore>& all_before() const { return all_before_; }

  void set_all_before(const AllBefore& all_before) { all_before_ = all_before; }

  // Calls visit(older) for cells of its warp among the last few, since accesses of a few warps
  // interleave, until that returns true; true if it did. Keeps what it makes of them.
  template <typename Visit>
  [[nodiscard]] bool any_recent_of_warp(const Cell& cell, Visit visit);

  // It has doubled since the last time, so that compacting costs no more than adding did; and a
  // part of it was added by warps that may have been there, for the others have nothing to drop.
  [[nodiscard]] bool should_compact() const {
    return size_ >= compact_at_ && again_ >= size_ / kLeastAgain;
  }

  // False: certainly no cell of its warp is there.
  [[nodiscard]] bool may_have_warp_of(const Cell& cell) const {
    return cell.cta < newest_ || (cell.cta == newest_ && (warps_of_newest_ >> cell.warp & 1) != 0);
  }

  // Drops what cut(newer, older), for two cells of one warp, leaves no byte of.
  template <typename Cut>
  void compact(Cut cut);

  // Launches of which no cell may be left: cells of launches before this one were looked
  // through.
  [[nodiscard]] LaunchId launch() const { return launch_; }

  void set_launch(LaunchId launch) { launch_ = launch; }

 private:
  static constexpr std::size_t kRecentGroups = 8, kRecentMembers = 8;  // that are looked through
  static constexpr std::size_t kAll = ~std::size_t{0};
  static constexpr std::size_t kLeastCompacted = 64;
  static constexpr std::size_t kLeastAgain = 4;  // one in so many

  // Warps of a CTA whose cells differ in nothing else.
  struct Member {
    std::uint32_t cta = 0;
    Time time = 0;
    std::uint32_t lanes = 0;
    std::uint32_t warps = 0;
  };

  static_assert(sizeof(Member) == 16);

  struct Group {
    Cell alike;  // but for what a member says
    std::vector<Member> members;

    [[nodiscard]] Cell cell(const Member& member, std::uint32_t warp) const;
  };

  // A member among all, in the order of its CTA's times.
  struct MemberPlace {
    CtaKey cta{};
    Time time = 0;
    std::uint32_t group = 0, member = 0;
  };

  using Changed = std::vector<Cell>;

  // One warp of `member` is `now`, and was `was`. True if the member can no longer say so: then it
  // has lost the warp.
  static bool change(const Group& group, Member& member, const Cell& was, const Cell& now,
                     Changed& changed);
  // The same, with what visit(cell) makes of it.
  template <typename Visit>
  static bool change(const Group& group, Member& member, std::uint32_t warp, Changed& changed,
                     Visit visit);
  [[nodiscard]] std::vector<MemberPlace> places_by_cta() const;
  // Drops members without a warp, of the last `members` of the last `groups`, and adds what they
  // have become.
  void finish_change(const Changed& changed, std::size_t groups, std::size_t members);

  template <typename Items>
  static auto last_of(Items& items, std::size_t count) {
    return std::span(items.data(), items.size()).last(std::min<std::size_t>(items.size(), count));
  }

  SharedAccessKind kind_;
  LaunchId launch_{};
  std::size_t size_ = 0, compact_at_ = kLeastCompacted;
  std::size_t again_ = 0;  // added since the last time by warps that may have been there
  // CTAs come mostly one after the other: the last of them, and its warps that were ever here.
  CtaKey newest_;
  std::uint32_t warps_of_newest_ = 0;
  std::vector<Group> groups_;
  std::optional<AllBefore> all_before_;
};

template <typename Visit>
void SharedAccessSet::look_at(Visit visit) const {
  for (const Group& group : groups_) {
    for (const Member& member : group.members) {
      for (std::uint32_t rest = member.warps; rest != 0; rest &= rest - 1) {
        visit(group.cell(member, first_lane(rest)));
      }
    }
  }
}

template <typename Visit>
void SharedAccessSet::update(Visit visit) {
  update_of([](CtaKey) { return true; }, visit);
}

template <typename Concerns, typename Visit>
void SharedAccessSet::update_of(Concerns concerns, Visit visit) {
  Changed changed;
  for (Group& group : groups_) {
    for (Member& member : group.members) {
      if (!concerns(CtaKey(group.alike.launch(), member.cta))) {
        continue;
      }
      for (std::uint32_t rest = member.warps; rest != 0; rest &= rest - 1) {
        change(group, member, first_lane(rest), changed, visit);
      }
    }
  }
  finish_change(changed, kAll, kAll);
}

template <typename Visit>
bool SharedAccessSet::any_recent_of_warp(const Cell& cell, Visit visit) {
  all_before_.reset();
  Changed changed;
  bool is_found = false, has_changed = false;
  const std::uint32_t cta = cell.cta_index();
  const LaunchId launch = cell.launch();
  for (Group& group : last_of(groups_, kRecentGroups)) {
    if (group.alike.launch() != launch) {
      continue;
    }
    for (Member& member : last_of(group.members, kRecentMembers)) {
      if (member.cta == cta && (member.warps >> cell.warp & 1) != 0 && !is_found) {
        has_changed = change(group, member, cell.warp, changed,
                             [&](Cell& recent) { is_found = visit(recent); }) ||
                      has_changed;
      }
    }
  }
  if (has_changed) {
    finish_change(changed, kRecentGroups, kRecentMembers);
  }
  return is_found;
}

template <typename Cut>
void SharedAccessSet::compact(Cut cut) {
  const std::vector<MemberPlace> places = places_by_cta();
  Changed changed;
  std::vector<Cell> newest_first;  // of a warp, as they are now
  const auto cut_older = [&](Cell& cell) {
    for (const Cell& newer : newest_first) {
      if (!cell.bytes.none()) {
        cut(newer, cell);
      }
    }
    if (!cell.bytes.none()) {
      newest_first.push_back(cell);
    }
  };
  for (std::size_t start = 0, end = 0; start < places.size(); start = end) {
    std::uint32_t warps = 0;
    for (; end < places.size() && places[end].cta == places[start].cta; ++end) {
      warps |= groups_[places[end].group].members[places[end].member].warps;
    }
    for (; warps != 0; warps &= warps - 1) {
      const std::uint32_t warp = first_lane(warps);
      newest_first.clear();
      for (std::size_t index = end; index-- > start;) {
        Group& group = groups_[places[index].group];
        Member& member = group.members[places[index].member];
        if ((member.warps >> warp & 1) != 0) {
          change(group, member, warp, changed, cut_older);
        }
      }
    }
  }
  finish_change(changed, kAll, kAll);
  DEBUG_ASSERT(is_valid());
  compact_at_ = std::max(kLeastCompacted, size_ * 2);
  again_ = 0;
}

template <typename Visit>
bool SharedAccessSet::change(const Group& group, Member& member, std::uint32_t warp,
                             Changed& changed, Visit visit) {
  const Cell was = group.cell(member, warp);
  Cell now = was;
  visit(now);
  return change(group, member, was, now, changed);
}

}  // namespace barracuda::detector
