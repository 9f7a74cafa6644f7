#include "weak_memory/memory_model/ptx_axioms.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "base/assert.h"

namespace barracuda::memory_model {
namespace {

using Kind = Event::Kind;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Chooses where each read reads from, then in which order morally strong fences and writes come.
class Enumeration {
 public:
  Enumeration(const Program& program, const std::vector<Event>& events, PtxVersion version,
              Killed& killed, const SearchEnd& end, const Resolve& resolve,
              const std::function<bool(const Consistent&)>& keep)
      : program_(program),
        events_(events),
        version_(version),
        skeleton_(program, events, version),
        killed_(killed),
        end_(end),
        resolve_(resolve),
        keep_(keep) {
    made_.source.resize(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind == Kind::kRead) {
        reads_.push_back(i);
      }
      for (std::size_t j = i + 1; j < events.size(); ++j) {
        if (events[i].thread == events[j].thread || !skeleton_.morally_strong.has(i, j)) {
          continue;
        }
        if (events[i].is_fence(Order::kSc) && events[j].is_fence(Order::kSc)) {
          strong_fences_.emplace_back(i, j);
        }
        if (events[i].writes() && events[j].writes()) {
          strong_writes_.emplace_back(i, j);
        }
      }
    }
  }

  void run() && { choose_sources(0); }

 private:
  void kill(Axiom axiom) { ++killed_[static_cast<std::size_t>(axiom)]; }

  void choose_sources(std::size_t chosen) {
    is_over_ = is_over_ || end_.has_come();
    if (chosen == reads_.size()) {
      check_reading();
      return;
    }
    const std::size_t read = reads_[chosen];
    for (std::size_t write = 0; write < events_.size() && !is_over_; ++write) {
      if (!events_[write].writes() || events_[write].location != events_[read].location ||
          (!resolve_ && events_[write].value != events_[read].value)) {
        continue;
      }
      // What a thread does later to the same bytes it does not read.
      if (skeleton_.po_same_location.has(read, write)) {
        kill(Axiom::kScPerLocation);
      } else if (is_taken(write, read, chosen)) {
        kill(Axiom::kAtomicity);
      } else {
        made_.source[read] = write;
        choose_sources(chosen + 1);
      }
    }
  }

  // Whether another atomic has read the value already that one of the two must leave to the other:
  // that holds where coherence orders the write before both.
  [[nodiscard]] bool is_taken(std::size_t write, std::size_t read, std::size_t chosen) const {
    const Relation& strong = skeleton_.morally_strong;
    const auto follows = [&](std::size_t reader) {
      return events_[write].kind == Kind::kInitial || strong.has(write, reader);
    };
    if (skeleton_.rmw.from(read) == 0 || !follows(read)) {
      return false;
    }
    for (std::size_t i = 0; i < chosen; ++i) {
      const std::size_t other = reads_[i];
      if (made_.source[other] == write && skeleton_.rmw.from(other) != 0 && follows(other) &&
          strong.has(read, other)) {
        return true;
      }
    }
    return false;
  }

  void check_reading() {
    made_.rf = Relation();
    for (const std::size_t read : reads_) {
      made_.rf.add(made_.source[read], read);
    }
    if (!(made_.rf | skeleton_.dependency).is_acyclic()) {
      kill(Axiom::kNoThinAir);
      return;
    }
    if (resolve_ && !resolve_(made_.source)) {
      return;
    }
    const Relation strong_rf = skeleton_.morally_strong & made_.rf;
    Relation observed;  // in 7.5 synchronisation goes over many steps, causality begins with one
    if (version_ == PtxVersion::k75) {
      observation_ = strong_rf | skeleton_.rmw;
      observed = observation_.closure();
    } else {
      observation_ = strong_rf;
      for (Relation before; observation_ != before;) {
        before = observation_;
        observation_ = before | before.then(skeleton_.rmw).then(before);
      }
      observed = observation_;
    }
    made_.sync = skeleton_.morally_strong &
                 skeleton_.release_pattern.then(observed).then(skeleton_.acquire_pattern);
    made_.fence_sc = Relation();
    order_fences(0);
    is_over_ = is_over_ && (!resolve_ || end_.has_come());
  }

  void order_fences(std::size_t chosen) {
    if (chosen == strong_fences_.size()) {
      check_causality();
      return;
    }
    const auto [a, b] = strong_fences_[chosen];
    const Relation before = made_.fence_sc;
    // What is ordered already is ordered so: the other way would contradict it.
    const Relation ordered = base_order();
    for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
      if (ordered.has(second, first)) {
        kill(Axiom::kFenceSc);
      } else if (!is_over_) {
        made_.fence_sc = before;
        made_.fence_sc.add(first, second);
        order_fences(chosen + 1);
      }
    }
    made_.fence_sc = before;
  }

  // Base causality order, of the fences that are ordered so far.
  [[nodiscard]] Relation base_order() const {
    const Relation steps = made_.sync | made_.fence_sc | skeleton_.barrier;
    const Relation some_po = skeleton_.po.or_none();
    return some_po.then(steps.then(some_po).closure());
  }

  void check_causality() {
    Relation base = base_order();
    if (version_ == PtxVersion::k75) {
      base = base | skeleton_.po;
      cause_ = observation_.or_none().then(preserved(base));
    } else {
      cause_ = base | observation_.then(base | skeleton_.po_same_location);
    }
    if (!made_.fence_sc.then(base | cause_).is_irreflexive()) {
      kill(Axiom::kFenceSc);
      return;
    }
    if (!made_.rf.then(cause_).is_irreflexive()) {
      kill(Axiom::kCausality);
      return;
    }
    Relation coherence;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      for (std::size_t j = 0; j < events_.size(); ++j) {
        // Initial writes come first, and a thread's own in its order (SC per location).
        if (i != j && events_[i].writes() && events_[j].writes() &&
            events_[i].location == events_[j].location &&
            (events_[i].kind == Kind::kInitial || cause_.has(i, j) ||
             skeleton_.po_same_location.has(i, j))) {
          coherence.add(i, j);
        }
      }
    }
    order_writes(coherence.closure(), 0);
  }

  // PTX ISA 7.5, "Proxy-preserved base causality order": what of `base` accesses to one location
  // keep.
  [[nodiscard]] Relation preserved(const Relation& base) const {
    Relation kept;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      for (std::uint64_t rest = base.from(i); rest != 0; rest &= rest - 1) {
        const auto j = static_cast<std::size_t>(std::countr_zero(rest));
        if (events_[i].accesses() && events_[j].accesses() &&
            events_[i].location == events_[j].location && is_preserved(base, i, j)) {
          kept.add(i, j);
        }
      }
    }
    return kept;
  }

  [[nodiscard]] bool is_preserved(const Relation& base, std::size_t i, std::size_t j) const {
    const Instruction& first = *events_[i].instruction;
    const Instruction& second = *events_[j].instruction;
    if (first.proxy == second.proxy && first.generic == second.generic &&
        (first.proxy == Proxy::kGeneric || program_.threads[events_[i].thread].includes(
                                               Scope::kCta, program_.threads[events_[j].thread]))) {
      return true;
    }
    std::uint64_t reached = after(base, generic_ends(i) & from_or_is(base, i));
    if (first.generic != second.generic) {
      reached = after(base, reached & proxy_fences(Proxy::kAlias, nullptr));
    }
    return (reached & generic_ends(j) & to_or_is(base, j)) != 0;
  }

  // Where an access meets the generic proxy: itself, or a fence of its proxy in its CTA.
  [[nodiscard]] std::uint64_t generic_ends(std::size_t access) const {
    const Proxy proxy = events_[access].instruction->proxy;
    return proxy == Proxy::kGeneric
               ? std::uint64_t{1} << access
               : proxy_fences(proxy, &program_.threads[events_[access].thread]);
  }

  // `beside`: a thread of the CTA in which they must be; null: anywhere.
  [[nodiscard]] std::uint64_t proxy_fences(Proxy proxy, const Thread* beside) const {
    std::uint64_t fences = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& fence = events_[i];
      if (fence.kind == Kind::kProxyFence && fence.instruction->proxy == proxy &&
          (beside == nullptr || beside->includes(Scope::kCta, program_.threads[fence.thread]))) {
        fences |= std::uint64_t{1} << i;
      }
    }
    return fences;
  }

  static std::uint64_t after(const Relation& base, std::uint64_t events) {
    std::uint64_t all = 0;
    for (; events != 0; events &= events - 1) {
      all |= base.from(static_cast<std::size_t>(std::countr_zero(events)));
    }
    return all;
  }

  static std::uint64_t from_or_is(const Relation& base, std::size_t event) {
    return base.from(event) | std::uint64_t{1} << event;
  }

  static std::uint64_t to_or_is(const Relation& base, std::size_t event) {
    std::uint64_t all = std::uint64_t{1} << event;
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      all |= base.has(i, event) ? std::uint64_t{1} << i : 0;
    }
    return all;
  }

  // `coherence` is closed.
  void order_writes(const Relation& coherence, std::size_t chosen) {
    is_over_ = is_over_ || end_.has_come();
    if (!coherence.is_irreflexive()) {
      kill(Axiom::kCoherence);
      return;
    }
    if (chosen == strong_writes_.size()) {
      check_coherence(coherence);
      return;
    }
    const auto [a, b] = strong_writes_[chosen];
    if (coherence.has(a, b) || coherence.has(b, a)) {
      order_writes(coherence, chosen + 1);
      return;
    }
    for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
      if (!is_over_) {
        Relation more = coherence;
        more.add(first, second);
        order_writes(more.closure(), chosen + 1);
      }
    }
  }

  void check_coherence(const Relation& coherence) {
    const Relation from_read = made_.rf.inverse().then(coherence);
    const Relation& strong = skeleton_.morally_strong;
    if (!((strong & from_read).then(strong & coherence) & skeleton_.rmw).is_empty()) {
      kill(Axiom::kAtomicity);
    } else if (version_ == PtxVersion::k60 &&
               !((strong & (made_.rf | coherence | from_read)) | skeleton_.po_same_location)
                    .is_acyclic()) {
      kill(Axiom::kScPerLocation);
    } else if (!from_read.then(cause_).is_irreflexive()) {
      kill(Axiom::kCausality);
    } else {
      made_.coherence = coherence;
      made_.cause = cause_;
      is_over_ = !keep_(made_);
    }
  }

  const Program& program_;
  const std::vector<Event>& events_;
  PtxVersion version_;
  const Skeleton skeleton_;
  Killed& killed_;
  const SearchEnd& end_;
  const Resolve& resolve_;
  const std::function<bool(const Consistent&)>& keep_;
  std::vector<std::size_t> reads_;
  Pairs strong_fences_, strong_writes_;
  Consistent made_;  // as far as it was chosen
  Relation observation_, cause_;
  bool is_over_ = false;
};

}  // namespace

std::string_view name_of(Axiom axiom) {
  switch (axiom) {
    case Axiom::kCoherence:
      return "Coherence";
    case Axiom::kFenceSc:
      return "Fence-SC";
    case Axiom::kAtomicity:
      return "Atomicity";
    case Axiom::kNoThinAir:
      return "No Thin Air";
    case Axiom::kScPerLocation:
      return "SC per Location";
    case Axiom::kCausality:
      return "Causality";
  }
  ASSERT(false);
}

void for_each_consistent(const Program& program, const std::vector<Event>& events,
                         PtxVersion version, Killed& killed, const SearchEnd& end,
                         const Resolve& resolve,
                         const std::function<bool(const Consistent&)>& keep) {
  ASSERT(events.size() <= kMostEvents);
  Enumeration(program, events, version, killed, end, resolve, keep).run();
}

}  // namespace barracuda::memory_model
