// What is known of many CTAs: a persistent map from CtaKey, a binary trie whose branches are shared
// between clocks. Two trees that have a common past differ in few branches, and joining or
// comparing them costs only those. A null pointer is the empty tree.
#pragma once

#include <cstdint>

#include "base/assert.h"
#include "host_detector/clock/cta_clock.h"

namespace barracuda::detector {

class ClockTree;
using ClockTreePointer = boost::intrusive_ptr<const ClockTree>;

class ClockTree : public Counted<ClockTree> {
 public:
  [[nodiscard]] static const CtaClock* find(const ClockTree* tree, CtaKey cta);
  // Either of the two themselves where it covers the other.
  [[nodiscard]] static ClockTreePointer joined(const ClockTreePointer& a,
                                               const ClockTreePointer& b);
  [[nodiscard]] static ClockTreePointer leaf(const CtaClockPointer& part);
  [[nodiscard]] static ClockTreePointer without(const ClockTreePointer& tree, CtaKey cta);
  [[nodiscard]] static bool covers(const ClockTree* tree, const ClockTree* other);

  // Calls visit(part) by ascending key until it returns false; false if it did.
  template <typename Visit>
  static bool all_of(const ClockTree* tree, Visit visit);

  // Of the whole tree.
  [[nodiscard]] bool is_valid() const;

 private:
  explicit ClockTree(const CtaClockPointer& part) : prefix_(number(part->key())), part_(part) {}

  ClockTree(std::uint64_t prefix, std::uint64_t bit, ClockTreePointer low, ClockTreePointer high)
      : prefix_(prefix), bit_(bit), low_(std::move(low)), high_(std::move(high)) {
    DEBUG_ASSERT(is_branch());
  }

  static std::uint64_t number(CtaKey key) { return key.packed(); }

  // `key` may be in this branch: they agree above its bit.
  [[nodiscard]] bool leads_to(std::uint64_t key) const {
    return ((key ^ prefix_) & ~(bit_ | (bit_ - 1))) == 0;
  }

  [[nodiscard]] bool is_leaf() const { return part_ != nullptr; }

  // Both sides lie where their keys say.
  [[nodiscard]] bool is_branch() const;

  [[nodiscard]] const ClockTreePointer& side(std::uint64_t key) const {
    return (key & bit_) != 0 ? high_ : low_;
  }

  static ClockTreePointer branch_of(const ClockTreePointer& a, const ClockTreePointer& b);
  static ClockTreePointer with_side(const ClockTreePointer& branch, std::uint64_t key,
                                    ClockTreePointer side);

  // Which of two trees a join is: both bits if they are one tree, none if it had to be made.
  enum JoinIs : unsigned { kMade = 0, kFirst = 1, kSecond = 2 };

  // One of them is not copied on the way, for counting who has it would take most of the time.
  static unsigned join(const ClockTreePointer& a, const ClockTreePointer& b,
                       ClockTreePointer& made);
  static unsigned join_leaves(const ClockTreePointer& a, const ClockTreePointer& b,
                              ClockTreePointer& made);
  static unsigned join_branches(const ClockTreePointer& a, const ClockTreePointer& b,
                                ClockTreePointer& made);
  static unsigned remembered_join(const ClockTreePointer& a, const ClockTreePointer& b,
                                  ClockTreePointer& made);

  static const ClockTreePointer& chosen(unsigned is, const ClockTreePointer& a,
                                        const ClockTreePointer& b, const ClockTreePointer& made) {
    return (is & kFirst) != 0 ? a : (is & kSecond) != 0 ? b : made;
  }

  std::uint64_t prefix_;         // of a leaf, its key; of a branch, the bits above bit_
  std::uint64_t bit_ = 0;        // where the two sides differ; 0 for a leaf
  CtaClockPointer part_;         // of a leaf
  ClockTreePointer low_, high_;  // of a branch, never null
};

template <typename Visit>
bool ClockTree::all_of(const ClockTree* tree, Visit visit) {
  while (tree != nullptr) {
    if (tree->is_leaf()) {
      return visit(tree->part_);
    }
    if (!all_of<Visit>(tree->low_.get(), visit)) {
      return false;
    }
    tree = tree->high_.get();
  }
  return true;
}

}  // namespace barracuda::detector
