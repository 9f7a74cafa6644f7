#include "host_detector/shadow/shared_access_set.h"

#include <algorithm>
#include <tuple>

namespace barracuda::detector {
namespace {

// Without what members differ in.
Cell alike_of(const Cell& cell) {
  Cell alike = cell;
  alike.cta = CtaKey(cell.launch(), 0);
  alike.time = 0;
  alike.lanes = 0;
  alike.warp = 0;
  return alike;
}

}  // namespace

Cell SharedAccessSet::Group::cell(const Member& member, std::uint32_t warp) const {
  Cell cell = alike;
  cell.cta = CtaKey(alike.launch(), member.cta);
  cell.time = member.time;
  cell.lanes = member.lanes;
  cell.warp = static_cast<std::uint8_t>(warp);
  return cell;
}

bool SharedAccessSet::is_valid() const {
  std::size_t members = 0;
  for (const Group& group : groups_) {
    members += group.members.size();
    if (group.members.empty() || group.alike.bytes.none() || group.alike != alike_of(group.alike) ||
        std::ranges::any_of(group.members,
                            [](const Member& member) { return member.warps == 0; })) {
      return false;
    }
  }
  bool are_warps_known = true;
  look_at([&](const Cell& cell) { are_warps_known &= may_have_warp_of(cell); });
  return kind_ != SharedAccessKind::kNone && members == size_ && are_warps_known;
}

void SharedAccessSet::add(const Cell& cell) {
  DEBUG_ASSERT(cell.is_valid());
  all_before_.reset();
  again_ += may_have_warp_of(cell) ? 1 : 0;
  if (cell.cta > newest_) {
    newest_ = cell.cta;
    warps_of_newest_ = 0;
  }
  if (cell.cta == newest_) {
    warps_of_newest_ |= std::uint32_t{1} << cell.warp;
  }
  const Cell alike = alike_of(cell);
  const auto recent = last_of(groups_, kRecentGroups);
  const auto known = std::ranges::find(recent, alike, &Group::alike);
  auto& members =
      (known != recent.end() ? *known : groups_.emplace_back(Group{.alike = alike, .members = {}}))
          .members;
  const std::uint32_t warp = std::uint32_t{1} << cell.warp;
  for (Member& member : last_of(members, kRecentMembers)) {
    if (member.cta == cell.cta_index() && member.time == cell.time && member.lanes == cell.lanes &&
        (member.warps & warp) == 0) {
      member.warps |= warp;
      return;
    }
  }
  members.push_back(
      {.cta = cell.cta_index(), .time = cell.time, .lanes = cell.lanes, .warps = warp});
  ++size_;
}

bool SharedAccessSet::change(const Group& group, Member& member, const Cell& was, const Cell& now,
                             Changed& changed) {
  if (now == was) {
    return false;
  }
  if (is_single(member.warps) && !now.bytes.none() && alike_of(now) == group.alike) {
    member.time = now.time;
    member.lanes = now.lanes;
    return false;
  }
  DEBUG_ASSERT((member.warps >> was.warp & 1) != 0);
  member.warps &= ~(std::uint32_t{1} << was.warp);
  if (!now.bytes.none()) {
    changed.push_back(now);
  }
  return true;
}

std::vector<SharedAccessSet::MemberPlace> SharedAccessSet::places_by_cta() const {
  std::vector<MemberPlace> places;
  places.reserve(size_);
  for (std::uint32_t index = 0; index < groups_.size(); ++index) {
    const Group& group = groups_[index];
    for (std::uint32_t at = 0; at < group.members.size(); ++at) {
      const Member& member = group.members[at];
      places.push_back({.cta = CtaKey(group.alike.launch(), member.cta),
                        .time = member.time,
                        .group = index,
                        .member = at});
    }
  }
  std::ranges::stable_sort(
      places, {}, [](const MemberPlace& place) { return std::tuple(place.cta, place.time); });
  return places;
}

void SharedAccessSet::finish_change(const Changed& changed, std::size_t groups,
                                    std::size_t members) {
  const auto is_gone = [](const Member& member) { return member.warps == 0; };
  const auto drop = [](auto& from, std::size_t last, auto predicate) {
    const auto gone = std::ranges::remove_if(last_of(from, last), predicate);
    from.resize(from.size() - gone.size());
    return gone.size();
  };
  for (Group& group : last_of(groups_, groups)) {
    size_ -= drop(group.members, members, is_gone);
  }
  ASSERT(size_ <= kAll / 2);  // nobody was dropped twice
  drop(groups_, groups, [](const Group& group) { return group.members.empty(); });
  for (const Cell& cell : changed) {
    add(cell);
  }
  DEBUG_ASSERT(is_valid());
}

}  // namespace barracuda::detector
