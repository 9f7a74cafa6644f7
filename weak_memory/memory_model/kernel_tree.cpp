#include "weak_memory/memory_model/kernel_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.h"
#include "weak_memory/memory_model/relation.h"

namespace barracuda::memory_model {
namespace {

using ptx::LiteralStep;
using ptx::LiteralThread;
using ptx::LiteralValue;
using Kind = Instruction::Kind;

constexpr std::size_t kMostInstructions = 50'000;  // of a tree
constexpr std::uint64_t kMostSteps = 1'000'000;    // of all rounds
constexpr std::uint32_t kEnd = ~std::uint32_t{0};  // a destination that is not known yet

Order order_of(wire::MemoryOrder order) {
  switch (order) {
    case wire::MemoryOrder::kWeak:
      return Order::kWeak;
    case wire::MemoryOrder::kVolatile:
    case wire::MemoryOrder::kRelaxed:
      return Order::kRelaxed;
    case wire::MemoryOrder::kAcquire:
      return Order::kAcquire;
    case wire::MemoryOrder::kRelease:
      return Order::kRelease;
    case wire::MemoryOrder::kAcqRel:
      return Order::kAcqRel;
    case wire::MemoryOrder::kSeqCst:
      break;
  }
  return Order::kSc;
}

// Of the atomics that a litmus program has.
std::optional<Operation> operation_of(const ptx::Instruction& instruction) {
  constexpr std::array<std::pair<ptx::Modifier, Operation>, 5> kNames = {
      {{ptx::Modifier::kExch, Operation::kMove},
       {ptx::Modifier::kAdd, Operation::kAdd},
       {ptx::Modifier::kAnd, Operation::kAnd},
       {ptx::Modifier::kOr, Operation::kOr},
       {ptx::Modifier::kXor, Operation::kXor}}};
  for (const auto& [name, operation] : kNames) {
    if (instruction.has(name)) {
      return operation;
    }
  }
  return std::nullopt;
}

// How far one way of the thread has come.
struct Way {
  LiteralThread thread;
  std::uint32_t reads = 0;
  std::uint64_t writes = 0;
  std::map<Place, LiteralValue> own;                // what it wrote where nobody else looks
  std::map<std::uint32_t, std::uint32_t> barriers;  // turns, by barrier
  std::uint32_t phase = 0;                          // barriers of the block
  // The reads since it last changed anything that others see: what it was then, and the
  // instruction.
  std::map<std::vector<std::uint64_t>, std::uint32_t> since;
};

class Walk {
 public:
  Walk(const ptx::LiteralKernel& kernel, std::uint32_t number, std::uint32_t cta,
       std::uint32_t unroll, KernelUses& uses)
      : kernel_(kernel), number_(number), cta_(cta), unroll_(unroll), uses_(uses) {}

  Expected<ThreadTree> run(const LiteralThread& thread) && {
    Way way;
    way.thread = thread;
    if (auto gone = go_on(std::move(way)); !gone) {
      return unexpected(std::move(gone).error());
    }
    auto& all = tree_.instructions;
    if (!all.empty() && all.back().kind == Kind::kJump && all.back().destination == kEnd &&
        all.back().value == all.back().second) {
      all.pop_back();  // the end is behind it anyway
    }
    for (Instruction& each : all) {
      if (each.destination == kEnd) {
        each.destination = static_cast<std::uint32_t>(all.size());
      }
    }
    return std::move(tree_);
  }

 private:
  [[nodiscard]] tl::unexpected<Diagnostic> wrong(const LiteralStep& step,
                                                 const std::string& message) const {
    return unexpected({.message = message, .line = kernel_.line_of(step.statement)});
  }

  [[nodiscard]] std::uint32_t here() const {
    return static_cast<std::uint32_t>(tree_.instructions.size());
  }

  Instruction& emit(const LiteralStep& step, Kind kind) {
    Instruction made;
    made.kind = kind;
    made.order = order_of(step.effect.order);
    made.scope = step.effect.scope;
    made.line = kernel_.line_of(step.statement);
    tree_.instructions.push_back(made);
    return tree_.instructions.back();
  }

  void jump_to(std::uint32_t destination, bool is_spin = false) {
    Instruction made;
    made.kind = Kind::kJump;
    made.destination = destination;
    made.is_case = true;
    made.is_spin = is_spin;
    tree_.instructions.push_back(made);
  }

  // Until the way ends or parts.
  Expected<void> go_on(Way way) {
    for (;;) {
      if (uses_.end->has_come()) {
        uses_.is_stopped = true;
        return unexpected({.message = "the search has ended"});
      }
      TRY(const LiteralStep step, kernel_.next(way.thread));
      if (tree_.instructions.size() > kMostInstructions || ++uses_.steps > kMostSteps) {
        return wrong(step,
                     "a thread of the kernel has too many ways to explore, and this is where it "
                     "was given up; a smaller --unroll or launch, or --threads, is needed");
      }
      tree_.most_writes = std::max(tree_.most_writes, way.writes);
      if (is_out_of_bounds(way)) {
        tree_.is_cut = true;
        jump_to(here());
        return {};
      }
      if (step.kind == LiteralStep::Kind::kEnd) {
        tree_.barriers.insert(way.barriers);
        jump_to(kEnd);
        return {};
      }
      if (step.kind == LiteralStep::Kind::kLoad || step.kind == LiteralStep::Kind::kAtomic) {
        TRY(const bool goes_on, read(way, step));
        if (!goes_on) {
          return {};
        }
        continue;
      }
      if (auto done = execute(way, step); !done) {
        return done;
      }
    }
  }

  [[nodiscard]] bool is_out_of_bounds(const Way& way) const {
    return way.reads + way.writes + 2 >= kMostEvents ||
           std::ranges::any_of(way.thread.rounds,
                               [&](const auto& each) { return each.second.taken > unroll_; });
  }

  Expected<void> execute(Way& way, const LiteralStep& step) {
    if (step.kind == LiteralStep::Kind::kStore) {
      way.since.clear();
      for (std::size_t i = 0; i < step.values.size(); ++i) {
        TRY(const Place place, place_of(step, i));
        store(way, step, place, step.values[i]);
      }
      return {};
    }
    if (step.kind == LiteralStep::Kind::kFence) {
      if (step.effect.is_restricted) {
        return wrong(step, "explore does not know fences of mbarriers");
      }
      emit(step, Kind::kFence);
      return {};
    }
    way.since.clear();
    return barrier(way, step);
  }

  Expected<void> barrier(Way& way, const LiteralStep& step) {
    const bool is_warp = step.kind == LiteralStep::Kind::kWarpBarrier;
    const auto& size = kernel_.launch().block;
    const auto& at = way.thread.thread;
    constexpr std::uint32_t kWarp = 32;
    const std::uint32_t warp = ((at[2] * size.y + at[1]) * size.x + at[0]) / kWarp;
    const auto [entry, is_new] =
        uses_.barriers.try_emplace({is_warp ? warp : 0, step.number, is_warp},
                                   static_cast<std::uint32_t>(uses_.barriers.size()));
    const std::uint32_t turn = way.barriers[entry->second]++;
    if (turn >= kMostBarrierTurns) {
      return wrong(step, "a thread passes a barrier too often to explore");
    }
    way.phase += is_warp ? 0 : 1;
    Instruction& made = emit(step, Kind::kBarrier);
    made.order = Order::kWeak;
    made.instance = entry->second * kMostBarrierTurns + turn;
    made.number = Operand{};
    return {};
  }

  Expected<Place> place_of(const LiteralStep& step, std::size_t element) {
    const Place place{.is_shared = step.is_shared,
                      .cta = step.is_shared ? cta_ : 0,
                      .address = step.address + element * step.bytes,
                      .bytes = step.bytes};
    const auto initial = kernel_.initial(place.is_shared, place.address, place.bytes);
    if (!initial) {
      return wrong(step, fmt::format("an access of {} bytes where the launch has no memory, at {}",
                                     place.bytes,
                                     kernel_.name_of(place.is_shared, place.address, place.bytes)));
    }
    if (place.address % place.bytes != 0) {
      return wrong(step, "an access that is not aligned to its size");
    }
    PlaceUse& use = uses_.found[place];
    const bool is_flag = kernel_.flag_scope(step).has_value();
    use.has_flag_store = use.has_flag_store || (is_flag && step.kind == LiteralStep::Kind::kStore);
    use.has_poll = use.has_poll || (is_flag && step.kind != LiteralStep::Kind::kStore);
    use.values.insert(kept_value(*initial, place));
    use.threads.insert(number_);
    use.line = kernel_.line_of(step.statement);
    return place;
  }

  void store(Way& way, const LiteralStep& step, const Place& place, const LiteralValue& value) {
    PlaceUse& use = uses_.found[place];
    use.is_written = true;
    use.values.insert(kept_value(value.bits, place));
    if (!uses_.is_seen(place)) {
      way.own[place] = {.bits = value.bits, .reads = value.reads | step.depends_on};
      return;
    }
    Instruction& made = emit_access(step, Kind::kStore, place, value.reads);
    made.value.constant = kept_value(value.bits, place);
    note_apart(use, made, place, way);
    ++way.writes;
  }

  Instruction& emit_access(const LiteralStep& step, Kind kind, const Place& place,
                           std::uint64_t reads) {
    Instruction& made = emit(step, kind);
    const auto [entry, is_new] =
        uses_.locations.try_emplace(place, static_cast<std::uint32_t>(uses_.locations.size()));
    made.location = made.address = made.generic = entry->second;
    const auto known = uses_.known.find(place);
    const auto flag_scope = kernel_.flag_scope(step);
    if (made.order == Order::kWeak && flag_scope && known != uses_.known.end() &&
        known->second.is_flag()) {
      made.order = Order::kRelaxed;
      made.scope = *flag_scope;
      uses_.promoted.insert(made.line);
    }
    for (std::uint64_t rest = reads | step.depends_on; rest != 0; rest &= rest - 1) {
      made.depends_on.push_back(static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
    tree_.has_accesses = true;
    return made;
  }

  // With all of the launch that reach the place.
  [[nodiscard]] bool is_strong_with_all(const Instruction& write, const Place& place) const {
    const std::uint64_t blocks = kernel_.launch().grid.volume();
    const bool is_wide = write.scope == Scope::kCta ? place.is_shared || blocks == 1
                         : write.scope == Scope::kCluster
                             ? place.is_shared || blocks <= kernel_.cluster().volume()
                             : true;
    return write.order != Order::kWeak && is_wide;
  }

  // A barrier orders a write before all that the block does behind it, and nothing of other blocks.
  void note_apart(PlaceUse& use, const Instruction& write, const Place& place,
                  const Way& way) const {
    if (!is_strong_with_all(write, place)) {
      const bool is_of_block = place.is_shared || kernel_.launch().grid.volume() == 1;
      use.apart_before =
          std::max(use.apart_before, is_of_block ? way.phase + 1 : ~std::uint32_t{0});
    }
  }

  // What the thread reads where there is no write, or no other thread reads; none: other threads
  // decide it.
  [[nodiscard]] std::optional<LiteralValue> certain_value(const Way& way,
                                                          const Place& place) const {
    const auto initial = [&] {
      return LiteralValue{.bits = *kernel_.initial(place.is_shared, place.address, place.bytes)};
    };
    if (!uses_.is_seen(place)) {
      const auto found = way.own.find(place);
      return found == way.own.end() ? initial() : found->second;
    }
    const auto known = uses_.known.find(place);
    const bool is_constant = known == uses_.known.end() || !known->second.is_written;
    return is_constant ? std::optional(initial()) : std::nullopt;
  }

  // Whether the way goes on; if not, it has parted into others, which were followed to their end.
  Expected<bool> read(Way& way, const LiteralStep& step) {
    const auto [seen, is_new] = way.since.try_emplace(kernel_.live_state(way.thread), here());
    if (!is_new) {
      jump_to(seen->second, true);  // the pass in between has changed nothing
      tree_.has_spin = true;
      return false;
    }
    return step.kind == LiteralStep::Kind::kLoad ? load(way, step, {}) : update(way, step);
  }

  Expected<bool> load(Way& way, const LiteralStep& step, std::vector<LiteralValue> values) {
    while (values.size() < step.effect.elements) {
      TRY(const Place place, place_of(step, values.size()));
      if (auto certain = certain_value(way, place)) {
        certain->reads |= step.depends_on;
        values.push_back(*certain);
        continue;
      }
      if (step.effect.proxy != wire::Proxy::kGeneric) {
        return wrong(step, "a read by the read-only path of what the kernel writes");
      }
      const std::uint32_t number = way.reads++;
      const std::uint32_t at = here();
      tree_.registers = std::max(tree_.registers, way.reads);
      emit_access(step, Kind::kLoad, place, 0).target = number;
      if (!kernel_.is_used(step)) {
        values.push_back({.reads = std::uint64_t{1} << number});
        continue;
      }
      return part(way, place, number, at, [&](Way each, std::uint64_t value) -> Expected<void> {
        std::vector<LiteralValue> longer = values;
        longer.push_back({.bits = ptx_bits(value, place),
                          .reads = std::uint64_t{1} << number | step.depends_on});
        TRY(const bool goes_on, load(each, step, std::move(longer)));
        return goes_on ? go_on(std::move(each)) : Expected<void>();
      });
    }
    kernel_.give(way.thread, step, values);
    return true;
  }

  static std::uint64_t ptx_bits(std::uint64_t kept, const Place& place) {
    return place.bytes >= 8 ? kept : kept & ((std::uint64_t{1} << (place.bytes * 8)) - 1);
  }

  // A branch for each value that the place may hold; any other is never read.
  template <typename Follow>
  Expected<bool> part(const Way& way, const Place& place, std::uint32_t number, std::uint32_t read,
                      const Follow& follow) {
    const std::set<std::uint64_t> values = uses_.known.at(place).values;
    std::vector<std::uint32_t> branches;
    for (const std::uint64_t value : values) {
      branches.push_back(here());
      jump_to(kEnd);
      tree_.instructions.back().value.read = number;
      tree_.instructions.back().second.constant = value;
    }
    jump_to(read);
    std::size_t next = 0;
    for (const std::uint64_t value : values) {
      tree_.instructions[branches[next++]].destination = here();
      if (auto followed = follow(way, value); !followed) {
        return unexpected(std::move(followed).error());
      }
    }
    return false;
  }

  Expected<bool> update(Way& way, const LiteralStep& step) {
    TRY(const Place place, place_of(step, 0));
    PlaceUse& use = uses_.found[place];
    use.is_written = true;
    if (!uses_.is_seen(place)) {
      return update_own(way, step, place);
    }
    // In the first round, before it is known that the place is written, it holds what it held at
    // first.
    std::set<std::uint64_t> values = use.values;
    if (const auto known = uses_.known.find(place); known != uses_.known.end()) {
      values.insert(known->second.values.begin(), known->second.values.end());
    }
    TRY(const Instruction* const made, emit_update(way, step, place));
    for (const std::uint64_t old : values) {
      TRY(const LiteralValue left, kernel_.updated(step, ptx_bits(old, place)));
      use.values.insert(kept_value(left.bits, place));
      if (made->kind == Kind::kUpdate &&
          compute(made->operation, old, made->value.constant) != kept_value(left.bits, place)) {
        return wrong(step, "an atomic that wraps around is not explored");
      }
    }
    ++way.writes;
    note_apart(use, *made, place, way);
    if (!kernel_.is_used(step)) {
      way.since.clear();
      const std::uint64_t read =
          made->target ? std::uint64_t{1} << *made->target : std::uint64_t{0};
      kernel_.give(way.thread, step, {{.reads = read}});
      return true;
    }
    if (!uses_.known.contains(place)) {
      return false;  // the next round knows what may be read
    }
    ASSERT(made->target.has_value());  // or what it reads would not be used
    const std::uint32_t number = *made->target;
    // What puts back what it read changes nothing if nothing can come in between.
    const bool is_apart = way.phase < uses_.known.at(place).apart_before;
    const bool always_writes = made->kind == Kind::kUpdate;
    return part(way, place, number, here() - 1, [&](Way each, std::uint64_t old) -> Expected<void> {
      TRY(const LiteralValue left, kernel_.updated(step, ptx_bits(old, place)));
      if (kept_value(left.bits, place) != old || (is_apart && always_writes)) {
        each.since.clear();
      }
      kernel_.give(
          each.thread, step,
          {{.bits = ptx_bits(old, place), .reads = std::uint64_t{1} << number | step.depends_on}});
      return go_on(std::move(each));
    });
  }

  Expected<const Instruction*> emit_update(Way& way, const LiteralStep& step, const Place& place) {
    std::uint64_t reads = 0;
    for (const LiteralValue& each : step.values) {
      reads |= each.reads;
    }
    const bool is_cas = step.effect.is_cas;
    const auto operation = operation_of(kernel_.instruction(step.statement));
    if (!is_cas && !operation) {
      return wrong(step, fmt::format("explore does not know '{}' in a kernel",
                                     kernel_.instruction(step.statement).mnemonic));
    }
    Instruction& made =
        emit_access(step, is_cas ? Kind::kCompareExchange : Kind::kUpdate, place, reads);
    made.operation = operation.value_or(Operation::kMove);
    made.value.constant = kept_value(step.values.at(is_cas ? 1 : 0).bits, place);
    if (is_cas) {
      made.second.constant = kept_value(step.values.at(0).bits, place);
    }
    const std::uint32_t number = way.reads++;
    tree_.registers = std::max(tree_.registers, way.reads);
    if (step.effect.opcode_class == ptx::OpcodeClass::kAtomic) {
      made.target = number;
    }
    return &made;
  }

  Expected<bool> update_own(Way& way, const LiteralStep& step, const Place& place) {
    const auto old = certain_value(way, place);
    ASSERT(old.has_value());  // nobody else sees the place
    TRY(LiteralValue left, kernel_.updated(step, old->bits));
    left.reads |= old->reads | step.depends_on;
    uses_.found[place].values.insert(kept_value(left.bits, place));
    if (left.bits != old->bits) {
      way.since.clear();
    }
    way.own[place] = left;
    kernel_.give(way.thread, step, {*old});
    return true;
  }

  const ptx::LiteralKernel& kernel_;
  std::uint32_t number_, cta_, unroll_;
  KernelUses& uses_;
  ThreadTree tree_;
};

}  // namespace

std::uint64_t kept_value(std::uint64_t bits, const Place& place) {
  const std::uint32_t unused = 64 - std::min(place.bytes, 8U) * 8;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

Expected<ThreadTree> tree_of(const ptx::LiteralKernel& kernel, const ptx::LiteralThread& thread,
                             std::uint32_t number, std::uint32_t cta, std::uint32_t unroll,
                             KernelUses& uses) {
  return Walk(kernel, number, cta, unroll, uses).run(thread);
}

}  // namespace barracuda::memory_model
