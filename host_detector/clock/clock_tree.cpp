#include "host_detector/clock/clock_tree.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace barracuda::detector {
namespace {

// The joins of branches that this thread made last. At a barrier of a whole grid each block joins
// what all released to what it had: for each branch that does not lead to the block itself these
// are the same two as in the blocks before it. They are held, so that no other tree has their
// addresses.
class LastJoins {
 public:
  struct Join {
    ClockTreePointer a, b, both;
  };

  // Where the join of these two has its place; it may hold another one.
  Join& of(const ClockTreePointer& a, const ClockTreePointer& b) {
    const std::uintptr_t mixed =
        reinterpret_cast<std::uintptr_t>(a.get()) * 31 + reinterpret_cast<std::uintptr_t>(b.get());
    return joins_[(mixed ^ mixed >> 13) / alignof(ClockTree) % joins_.size()];
  }

 private:
  std::vector<Join> joins_ = std::vector<Join>(1024);
};

// Branches of so many CTAs are looked for among the last joins: to join smaller ones takes no
// longer.
constexpr std::uint64_t kManyCtas = 16;

}  // namespace

const CtaClock* ClockTree::find(const ClockTree* tree, CtaKey cta) {
  const std::uint64_t key = number(cta);
  while (tree != nullptr && !tree->is_leaf()) {
    tree = tree->leads_to(key) ? tree->side(key).get() : nullptr;
  }
  return tree != nullptr && tree->prefix_ == key ? tree->part_.get() : nullptr;
}

ClockTreePointer ClockTree::leaf(const CtaClockPointer& part) {
  ASSERT(part != nullptr);
  return {new ClockTree(part)};
}

// Of two trees whose keys differ above the bits of both.
ClockTreePointer ClockTree::branch_of(const ClockTreePointer& a, const ClockTreePointer& b) {
  ASSERT(a->prefix_ != b->prefix_);
  const std::uint64_t bit = std::bit_floor(a->prefix_ ^ b->prefix_);
  const std::uint64_t prefix = a->prefix_ & ~(bit | (bit - 1));
  return {(a->prefix_ & bit) == 0 ? new ClockTree(prefix, bit, a, b)
                                  : new ClockTree(prefix, bit, b, a)};
}

ClockTreePointer ClockTree::with_side(const ClockTreePointer& branch, std::uint64_t key,
                                      ClockTreePointer side) {
  if (side == branch->side(key)) {
    return branch;
  }
  return {(key & branch->bit_) != 0
              ? new ClockTree(branch->prefix_, branch->bit_, branch->low_, std::move(side))
              : new ClockTree(branch->prefix_, branch->bit_, std::move(side), branch->high_)};
}

unsigned ClockTree::join_leaves(const ClockTreePointer& a, const ClockTreePointer& b,
                                ClockTreePointer& made) {
  if (a->part_ == b->part_) {
    return kFirst | kSecond;
  }
  if (a->part_->covers(*b->part_)) {
    return kFirst;
  }
  if (b->part_->covers(*a->part_)) {
    return kSecond;
  }
  made = leaf(detector::joined(a->part_, b->part_));
  return kMade;
}

unsigned ClockTree::join_branches(const ClockTreePointer& a, const ClockTreePointer& b,
                                  ClockTreePointer& made) {
  ClockTreePointer made_low;
  ClockTreePointer made_high;
  const unsigned low = join(a->low_, b->low_, made_low);
  const unsigned high = join(a->high_, b->high_, made_high);
  if ((low & high) == kMade) {
    made = new ClockTree(a->prefix_, a->bit_, chosen(low, a->low_, b->low_, made_low),
                         chosen(high, a->high_, b->high_, made_high));
  }
  return low & high;
}

unsigned ClockTree::remembered_join(const ClockTreePointer& a, const ClockTreePointer& b,
                                    ClockTreePointer& made) {
  static thread_local LastJoins joins;
  LastJoins::Join& join = joins.of(a, b);
  if (join.a != a || join.b != b) {
    ClockTreePointer made_now;
    const unsigned is = join_branches(a, b, made_now);  // may use the same place
    join = {.a = a, .b = b, .both = chosen(is, a, b, made_now)};
  }
  if (join.both == a || join.both == b) {
    return (join.both == a ? kFirst : kMade) | (join.both == b ? kSecond : kMade);
  }
  made = join.both;
  return kMade;
}

unsigned ClockTree::join(const ClockTreePointer& a, const ClockTreePointer& b,
                         ClockTreePointer& made) {
  if (a == b) {
    return kFirst | kSecond;
  }
  if (a == nullptr || b == nullptr) {
    return b == nullptr ? kFirst : kSecond;
  }
  if (a->bit_ == b->bit_ && a->prefix_ == b->prefix_) {
    return a->is_leaf()              ? join_leaves(a, b, made)
           : a->bit_ < kManyCtas / 2 ? join_branches(a, b, made)
                                     : remembered_join(a, b, made);
  }
  const auto join_side = [&](const ClockTreePointer& branch, const ClockTreePointer& part,
                             unsigned is_branch) {
    const ClockTreePointer& side = branch->side(part->prefix_);
    ClockTreePointer made_side;
    const unsigned is = join(side, part, made_side);
    if ((is & kFirst) != 0) {
      return is_branch;
    }
    made = with_side(branch, part->prefix_, chosen(is, side, part, made_side));
    return static_cast<unsigned>(kMade);
  };
  if (a->bit_ > b->bit_ && a->leads_to(b->prefix_)) {
    return join_side(a, b, kFirst);
  }
  if (b->bit_ > a->bit_ && b->leads_to(a->prefix_)) {
    return join_side(b, a, kSecond);
  }
  made = branch_of(a, b);
  return kMade;
}

ClockTreePointer ClockTree::joined(const ClockTreePointer& a, const ClockTreePointer& b) {
  ClockTreePointer made;
  return chosen(join(a, b, made), a, b, made);
}

ClockTreePointer ClockTree::without(const ClockTreePointer& tree, CtaKey cta) {
  const std::uint64_t key = number(cta);
  if (tree == nullptr || (tree->is_leaf() && tree->prefix_ == key)) {
    return nullptr;
  }
  if (tree->is_leaf() || !tree->leads_to(key)) {
    return tree;
  }
  ClockTreePointer side = without(tree->side(key), cta);
  if (side == nullptr) {
    return (key & tree->bit_) != 0 ? tree->low_ : tree->high_;
  }
  return with_side(tree, key, std::move(side));
}

bool ClockTree::covers(const ClockTree* tree, const ClockTree* other) {
  if (tree == other || other == nullptr) {
    return true;
  }
  if (other->is_leaf()) {
    const CtaClock* ours = find(tree, other->part_->key());
    return ours != nullptr ? ours->covers(*other->part_)
                           : CtaClock(other->part_->key()).covers(*other->part_);
  }
  if (tree != nullptr && tree->bit_ > other->bit_ && tree->leads_to(other->prefix_)) {
    return covers(tree->side(other->prefix_).get(), other);
  }
  if (tree != nullptr && tree->bit_ == other->bit_ && tree->prefix_ == other->prefix_) {
    return covers(tree->low_.get(), other->low_.get()) &&
           covers(tree->high_.get(), other->high_.get());
  }
  return covers(tree, other->low_.get()) && covers(tree, other->high_.get());
}

bool ClockTree::is_branch() const {
  return part_ == nullptr && low_ != nullptr && high_ != nullptr && std::has_single_bit(bit_) &&
         low_->bit_ < bit_ && high_->bit_ < bit_ && leads_to(low_->prefix_) &&
         leads_to(high_->prefix_) && (low_->prefix_ & bit_) == 0 && (high_->prefix_ & bit_) != 0;
}

bool ClockTree::is_valid() const {
  if (is_leaf()) {
    return bit_ == 0 && prefix_ == number(part_->key()) && part_->is_valid();
  }
  return is_branch() && low_->is_valid() && high_->is_valid();
}

}  // namespace barracuda::detector
