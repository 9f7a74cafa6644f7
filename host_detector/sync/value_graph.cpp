#include "host_detector/sync/value_graph.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/assert.h"

namespace barracuda::detector {
namespace {

std::atomic<std::uint64_t> g_last_number{0};

bool has(const ValueGraph::Groups& groups, const ValueGraph::Group* group) {
  return std::ranges::find(groups, group) != groups.end();
}

void add_missing(ValueGraph::Groups& groups, ValueGraph::Group* group) {
  if (!has(groups, group)) {
    groups.push_back(group);
  }
}

void drop_from(ValueGraph::Groups& groups, const ValueGraph::Group* group) {
  const auto place = std::ranges::find(groups, group);
  if (place != groups.end()) {
    groups.erase(place);
  }
}

}  // namespace

void ValueGraph::add(Node& node) {
  ASSERT(node.group == nullptr);
  Group& group = *groups_.emplace_back(std::make_unique<Group>());
  group.place_ = groups_.size() - 1;
  group.number_ = ++g_last_number;
  group.nodes_.push_back(&node);
  node.group = &group;
}

void ValueGraph::fold(Node& node, Node& into_node) {
  Group& group = *node.group;
  Group& into = *into_node.group;
  ASSERT(&group != &into && into.after_.empty());
  if (group.nodes_.size() > 1) {
    link(node, into_node);
    std::erase(group.nodes_, &node);
    node.group = nullptr;
    return;
  }
  take_over(into, group);
  for (Group* const last : group.before_) {
    drop_from(last->after_, &group);
    add_missing(last->after_, &into);
    add_missing(into.before_, last);
  }
  for (Group* const next : group.after_) {
    drop_from(next->before_, &group);
  }
  drop_from(into.before_, &group);
  if (group.is_stale_) {
    mark_stale({&into});
  }
  node.group = nullptr;
  drop(group);
}

// What a thread releases that has taken all it knows of others from this group is but its own part.
void ValueGraph::join(Group& group, Channel channel, const Clock& clock) {
  if (clock.is_empty()) {
    return;
  }
  Clock& all = group.device_[static_cast<std::size_t>(channel)];
  if (all.is_empty()) {
    all = clock.without_home();
  } else {
    all.join(clock);
  }
  all.set_snapshot({.of = group.source(channel), .version = ++group.version_});
  ++joins_;
}

void ValueGraph::take_over(Group& group, const Group& from) {
  for (const Channel channel : kChannels) {
    join(group, channel, from.device_[static_cast<std::size_t>(channel)]);
  }
  for (const auto& [key, released] : from.narrow) {
    group.narrow[key].add(released);
  }
}

void ValueGraph::drop(Group& group) {
  const std::size_t place = group.place_;
  std::swap(groups_[place], groups_.back());
  groups_[place]->place_ = place;
  groups_.pop_back();
}

void ValueGraph::mark_stale(const Groups& groups) {
  std::vector<Group*> open(groups.begin(), groups.end());
  while (!open.empty()) {
    Group& group = *open.back();
    open.pop_back();
    if (!group.is_stale_) {
      group.is_stale_ = true;
      open.insert(open.end(), group.after_.begin(), group.after_.end());
    }
  }
}

void ValueGraph::link(Node& from_node, Node& to_node) {
  Group& from = *from_node.group;
  Group& to = *to_node.group;
  if (&from == &to || has(from.after_, &to)) {
    return;
  }
  from.after_.push_back(&to);
  to.before_.push_back(&from);
  if (const std::vector<Group*> groups = circle(from, to); !groups.empty()) {
    merge(groups);
  } else {
    mark_stale({&to});
  }
}

// Those on a way from `to` to `from`, between which there is an edge now; none if there is no such
// way.
std::vector<ValueGraph::Group*> ValueGraph::circle(Group& from, Group& to) {
  if (to.after_.empty()) {
    return {};  // the newest value, as a rule
  }
  const std::uint64_t forth = ++searches_;
  std::vector<Group*> open{&to};
  to.seen_ = forth;
  const auto search = [&](Groups Group::* edges, const auto& may_go) {
    while (!open.empty()) {
      const Group& group = *open.back();
      open.pop_back();
      for (Group* const next : group.*edges) {
        if (may_go(*next)) {
          open.push_back(next);
        }
      }
    }
  };
  search(&Group::after_, [&](Group& next) { return std::exchange(next.seen_, forth) != forth; });
  if (from.seen_ != forth) {
    return {};
  }
  const std::uint64_t back = ++searches_;
  std::vector<Group*> found{&from};
  from.seen_ = back;
  open.push_back(&from);
  search(&Group::before_, [&](Group& next) {
    if (next.seen_ != forth) {
      return false;
    }
    next.seen_ = back;
    found.push_back(&next);
    return true;
  });
  return found;
}

// Into the one with most values, so that a value changes its group seldom.
void ValueGraph::merge(const std::vector<Group*>& circle) {
  Group& all = **std::ranges::max_element(circle, {},
                                          [](const Group* group) { return group->nodes_.size(); });
  bool is_stale = false;
  for (Group* const group : circle) {
    is_stale = is_stale || group->is_stale_;
    if (group == &all) {
      continue;
    }
    take_over(all, *group);
    for (Node* const node : group->nodes_) {
      node->group = &all;
      all.nodes_.push_back(node);
    }
    for (Group* const next : group->after_) {
      drop_from(next->before_, group);
      add_missing(next->before_, &all);
      add_missing(all.after_, next);
    }
    for (Group* const last : group->before_) {
      drop_from(last->after_, group);
      add_missing(last->after_, &all);
      add_missing(all.before_, last);
    }
  }
  for (Group* const group : circle) {
    drop_from(all.after_, group);
    drop_from(all.before_, group);
    if (group != &all) {
      drop(*group);
    }
  }
  // It has what all of them had; it lacks something only if one of them did.
  all.is_stale_ = false;
  if (is_stale) {
    mark_stale({&all});
  } else {
    mark_stale(all.after_);
  }
}

void ValueGraph::release(Node& node, Channel channel, const Clock& clock) {
  if (clock.is_empty()) {
    return;
  }
  Group& group = *node.group;
  join(group, channel, clock);
  mark_stale(group.after_);
}

// Those before it first. A way of stale groups may be as long as there are values.
void ValueGraph::refresh(Group& group) {
  std::vector<Group*> open{&group};
  while (!open.empty()) {
    Group& last = *open.back();
    const auto stale = std::ranges::find_if(last.before_, &Group::is_stale_);
    if (last.is_stale_ && stale != last.before_.end()) {
      open.push_back(*stale);
      continue;
    }
    open.pop_back();
    if (!std::exchange(last.is_stale_, false)) {
      continue;
    }
    for (const Group* const before : last.before_) {
      for (const Channel channel : kChannels) {
        join(last, channel, before->device_[static_cast<std::size_t>(channel)]);
      }
    }
  }
}

const Clock& ValueGraph::device(Node& node, Channel channel) {
  refresh(*node.group);
  return node.group->device_[static_cast<std::size_t>(channel)];
}

std::vector<const ValueGraph::Group*> ValueGraph::reachable(const Node& node,
                                                            Groups Group::* edges) {
  std::vector<const Group*> found{node.group};
  boost::unordered_flat_set<const Group*> seen{node.group};
  for (std::size_t next = 0; next < found.size(); ++next) {
    for (const Group* const group : found[next]->*edges) {
      if (seen.insert(group).second) {
        found.push_back(group);
      }
    }
  }
  return found;
}

}  // namespace barracuda::detector
