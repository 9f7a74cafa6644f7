#include "weak_memory/slice/litmus_slice.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/toolkit_path.h"
#include "weak_memory/litmus.h"

namespace barracuda::weak_memory {
namespace {

using memory_model::Condition;
using memory_model::Instruction;
using memory_model::Operand;
using memory_model::Order;
using wire::MemoryOrder;
using Kind = Instruction::Kind;

constexpr double kSeconds = 10;
constexpr std::array<std::string_view, LitmusSlice::kMostLocations> kNames = {"x", "y", "z",
                                                                              "u", "v", "w"};

tl::unexpected<Diagnostic> no(std::string why) {
  Diagnostic problem;
  problem.message = std::move(why);
  return unexpected(std::move(problem));
}

// Of a load or store; of an atomic both sides.
Order order_of(MemoryOrder order, Kind kind) {
  const bool reads = kind != Kind::kStore, writes = kind != Kind::kLoad;
  switch (order) {
    case MemoryOrder::kWeak:
      return Order::kWeak;
    case MemoryOrder::kVolatile:
    case MemoryOrder::kRelaxed:
      return Order::kRelaxed;
    case MemoryOrder::kAcquire:
      return reads ? Order::kAcquire : Order::kRelaxed;
    case MemoryOrder::kRelease:
      return writes ? Order::kRelease : Order::kRelaxed;
    case MemoryOrder::kAcqRel:
    case MemoryOrder::kSeqCst:
      break;
  }
  return reads && writes ? Order::kAcqRel : reads ? Order::kAcquire : Order::kRelease;
}

Order order_of_fence(MemoryOrder order) {
  return order == MemoryOrder::kSeqCst    ? Order::kSc
         : order == MemoryOrder::kAcquire ? Order::kAcquire
         : order == MemoryOrder::kRelease ? Order::kRelease
                                          : Order::kAcqRel;
}

class Slicer {
 public:
  Slicer(const History& history, const AccessPair& pair, const Handover& handover)
      : history_(history), pair_(pair), handover_(handover) {}

  Expected<LitmusSlice> run() {
    if (const std::string why = why_not(); !why.empty()) {
      return no(why);
    }
    add_locations();
    if (places_.size() > LitmusSlice::kMostLocations) {
      return no(fmt::format("{} places of memory lie between the two accesses", places_.size()));
    }
    learn_initial_values();
    for (std::size_t i = 0; i < handover_.threads.size(); ++i) {
      add_thread(i);
    }
    ask();
    slice_.test.name = "slice";
    slice_.test.program.locations = static_cast<std::uint32_t>(places_.size());
    slice_.test.program.about.resize(places_.size());
    describe();
    return std::move(slice_);
  }

 private:
  const HistoryAccess& access(std::size_t number) const { return history_.accesses()[number]; }

  const wire::SiteInfo& info(std::size_t number) const {
    return history_.site(access(number).site).info;
  }

  [[nodiscard]] bool is_end(std::size_t number) const {
    return number == pair_.first || number == pair_.second;
  }

  [[nodiscard]] std::string why_not() const {
    for (const std::size_t end : {pair_.first, pair_.second}) {
      if (std::string why = why_not_in_models(info(end)); !why.empty()) {
        return why;
      }
    }
    const HistoryAccess& first = access(pair_.first);
    const HistoryAccess& second = access(pair_.second);
    const bool is_same_place = first.place == second.place && first.bytes == second.bytes;
    if (!is_same_place && info(pair_.first).order != MemoryOrder::kWeak &&
        info(pair_.second).order != MemoryOrder::kWeak) {
      return "the two accesses are of different bytes";
    }
    if (handover_.accesses.size() > LitmusSlice::kMostAccesses) {
      return fmt::format("{} accesses lie between the two", handover_.accesses.size());
    }
    for (const HistoryStep& other : history_.others()) {
      if (other.time > first.time && other.time < second.time &&
          (other.is_of(first.thread) || other.is_of(second.thread))) {
        return fmt::format("{} lies between the two, which the model has not",
                           history_.site(other.site).instruction);
      }
    }
    return "";
  }

  // The racing place is the first.
  void add_locations() {
    places_.push_back(access(pair_.first).place);
    for (const std::size_t number : handover_.accesses) {
      if (location_of(number) == places_.size()) {
        places_.push_back(access(number).place);
      }
    }
    for (std::uint32_t i = 0; i < std::min(places_.size(), kNames.size()); ++i) {
      slice_.test.addresses.push_back(
          {.name = std::string(kNames[i]), .location = i, .generic = i});
    }
    values_.resize(places_.size());
    most_.resize(places_.size());
  }

  [[nodiscard]] std::size_t location_of(std::size_t number) const {
    if (is_end(number) || access(number).overlaps(access(pair_.first)) ||
        access(number).overlaps(access(pair_.second))) {
      return 0;
    }
    return static_cast<std::size_t>(std::ranges::find(places_, access(number).place) -
                                    places_.begin());
  }

  // What an atomic on the way found before any write of the slice is what the place held at first:
  // number 0.
  void learn_initial_values() {
    std::vector<std::size_t> firsts(places_.size(), history_.accesses().size());
    for (const std::size_t number : handover_.accesses) {
      std::size_t& first = firsts[location_of(number)];
      if (first == history_.accesses().size() || access(number).time < access(first).time) {
        first = number;
      }
    }
    for (std::size_t location = 0; location < places_.size(); ++location) {
      const std::size_t first = firsts[location];
      const bool follows_end = location == 0 && access(pair_.first).writes;
      if (first < history_.accesses().size() && !follows_end && access(first).read &&
          !handover_.sources.contains(first)) {
        values_[location][*access(first).read] = 0;
        knows_initial_.insert(first);
      }
    }
  }

  std::uint64_t number_of(std::size_t location, const std::optional<std::uint64_t>& value) {
    if (!value) {
      return ++most_[location];
    }
    const auto [known, is_new] = values_[location].try_emplace(*value, most_[location] + 1);
    most_[location] = std::max(most_[location], known->second);
    return known->second;
  }

  void add_thread(std::size_t number) {
    const ThreadPlace& place = handover_.threads[number];
    slice_.test.threads.push_back(fmt::format("P{}", number));
    slice_.test.registers.emplace_back();
    memory_model::Thread& thread = slice_.test.program.threads.emplace_back();
    const auto cta = std::ranges::find(ctas_, place.cta);
    thread.cta = static_cast<std::uint32_t>(cta - ctas_.begin());
    if (cta == ctas_.end()) {
      ctas_.push_back(place.cta);
    }
    const std::uint32_t cluster = history_.cluster_of(place.cta);
    const auto known = std::ranges::find(clusters_, cluster);
    thread.cluster = static_cast<std::uint32_t>(known - clusters_.begin());
    if (known == clusters_.end()) {
      clusters_.push_back(cluster);
    }
    add_steps(place, number);
    for (Instruction& each : thread.instructions) {
      if (each.kind == Kind::kJump) {
        each.destination = static_cast<std::uint32_t>(thread.instructions.size());
      }
    }
    thread.registers = static_cast<std::uint32_t>(slice_.test.registers.back().size());
  }

  // What a thread does, by time: accesses, barriers, and the fences between the first and the last.
  enum class Step : std::uint8_t { kAccess, kBarrier, kFence };

  void add_steps(const ThreadPlace& thread, std::size_t number) {
    std::vector<std::tuple<std::uint64_t, Step, std::size_t>> steps;
    const auto add = [&](std::size_t each) {
      if (access(each).thread == thread) {
        steps.emplace_back(access(each).time, Step::kAccess, each);
      }
    };
    add(pair_.first);
    add(pair_.second);
    for (const std::size_t each : handover_.accesses) {
      if (!is_end(each)) {
        add(each);
      }
    }
    for (const std::size_t each : handover_.barriers) {
      const auto& arrivals = history_.barriers()[each].arrivals;
      for (const auto& arrival : arrivals) {
        if (arrival.thread == thread) {
          steps.emplace_back(arrival.time, Step::kBarrier, each);
        }
      }
    }
    if (steps.empty()) {
      return;
    }
    const auto [least, greatest] = std::ranges::minmax_element(steps);
    const std::uint64_t begin = std::get<0>(*least), end = std::get<0>(*greatest);
    for (std::size_t i = 0; i < history_.fences().size(); ++i) {
      const HistoryStep& fence = history_.fences()[i];
      if (fence.is_of(thread) && fence.time > begin && fence.time < end) {
        steps.emplace_back(fence.time, Step::kFence, i);
      }
    }
    std::ranges::sort(steps);
    for (const auto& [time, step, each] : steps) {
      if (step == Step::kAccess) {
        add_access(number, each);
      } else if (step == Step::kBarrier) {
        add_barrier(number, each, thread, time);
      } else {
        add_fence(number, each);
      }
    }
  }

  std::vector<Instruction>& instructions(std::size_t thread) {
    return slice_.test.program.threads[thread].instructions;
  }

  void add_fence(std::size_t thread, std::size_t number) {
    const wire::SiteInfo& fence = history_.site(history_.fences()[number].site).info;
    Instruction made{
        .kind = Kind::kFence, .order = order_of_fence(fence.order), .scope = fence.scope};
    if (instructions(thread).empty() || !instructions(thread).back().does_the_same_as(made)) {
      instructions(thread).push_back(std::move(made));
    }
  }

  void add_barrier(std::size_t thread, std::size_t number, const ThreadPlace& place,
                   std::uint64_t time) {
    const auto& arrivals = history_.barriers()[number].arrivals;
    const auto own = std::ranges::find_if(arrivals, [&](const auto& arrival) {
      return arrival.thread == place && arrival.time == time;
    });
    const auto known = std::ranges::find(instances_, number);
    const auto instance = static_cast<std::uint32_t>(known - instances_.begin());
    if (known == instances_.end()) {
      instances_.push_back(number);
    }
    instructions(thread).push_back(
        {.kind = Kind::kBarrier, .instance = instance, .waits = own->waits});
  }

  // A new register of the thread.
  std::uint32_t add_register(std::size_t thread) {
    auto& names = slice_.test.registers[thread];
    names.push_back(fmt::format("r{}", names.size() + 1));
    return static_cast<std::uint32_t>(names.size() - 1);
  }

  void add_access(std::size_t thread, std::size_t number) {
    const HistoryAccess& each = access(number);
    const std::size_t location = location_of(number);
    // What an end reads is the question, not an assumption.
    const bool assumes = !is_end(number) && each.read &&
                         (handover_.sources.contains(number) || knows_initial_.contains(number));
    // One that does not read what is in the slice hands nothing on: there it would read another
    // write than it did, and go on with that one's chain.
    const bool is_read = is_end(number) || assumes || handover_.sources.contains(number);
    Instruction made{.kind = !each.writes              ? Kind::kLoad
                             : !each.reads || !is_read ? Kind::kStore
                             : assumes                 ? Kind::kCompareExchange
                                                       : Kind::kUpdate,
                     .location = static_cast<std::uint32_t>(location),
                     .address = static_cast<std::uint32_t>(location),
                     .generic = static_cast<std::uint32_t>(location)};
    made.order = order_of(info(number).order, made.kind);
    made.scope =
        info(number).order == MemoryOrder::kVolatile ? wire::Scope::kSys : info(number).scope;
    if (made.order == Order::kWeak && !is_end(number)) {
      made.order = Order::kRelaxed;  // a flag by plain accesses and fences (RACE_RULES section 2)
      made.scope = info(number).idiom_scope;
      is_promoted_ = true;
    }
    std::uint64_t expected = 0;
    if (assumes) {
      expected = number_of(location, each.read);
      made.second.constant = expected;
    }
    if (each.writes) {
      made.value.constant = number_of(location, each.written);
      ends_[number] = made.value.constant;
    }
    if (made.kind != Kind::kStore && info(number).operation != wire::Operation::kReduction) {
      made.target = add_register(thread);
    }
    if (made.target) {
      registers_[number] = {static_cast<std::uint32_t>(thread), *made.target};
    }
    instructions(thread).push_back(made);
    if (assumes && made.target) {
      assume(thread, *made.target, expected);
    }
  }

  static memory_model::Term register_of(std::uint32_t thread, std::uint32_t number) {
    return {.kind = memory_model::Term::Kind::kRegister, .thread = thread, .number = number};
  }

  static Condition equal(const memory_model::Term& left, std::uint64_t value) {
    return {.kind = Condition::Kind::kEqual, .left = left, .right = {.constant = value}};
  }

  void assume(std::size_t thread, std::uint32_t target, std::uint64_t value) {
    instructions(thread).push_back({.kind = Kind::kJump,
                                    .value = {.read = target},
                                    .second = {.constant = value},
                                    .comparison = memory_model::Comparison::kNotEqual});
    slice_.assumed.parts.push_back(
        equal(register_of(static_cast<std::uint32_t>(thread), target), value));
  }

  // How it ends if the two are not in order: the old value is read; or what is written later; or
  // what was written first is there at the end.
  void ask() {
    slice_.assumed.kind =
        slice_.assumed.parts.empty() ? Condition::Kind::kTrue : Condition::Kind::kAnd;
    Condition& asked = slice_.test.condition;
    asked.kind = Condition::Kind::kAnd;
    asked.parts = slice_.assumed.parts;
    const auto first = registers_.find(pair_.first), second = registers_.find(pair_.second);
    if (second != registers_.end() && access(pair_.first).writes) {
      asked.parts.push_back(equal(register_of(second->second.first, second->second.second), 0));
    } else if (first != registers_.end()) {
      asked.parts.push_back(
          equal(register_of(first->second.first, first->second.second), ends_[pair_.second]));
    } else {
      asked.parts.push_back(
          equal({.kind = memory_model::Term::Kind::kLocation, .number = 0, .address = 0},
                ends_[pair_.first]));
    }
  }

  void describe() {
    slice_.comment =
        fmt::format("x: {} and {}", source_line(history_.site(access(pair_.first).site)),
                    source_line(history_.site(access(pair_.second).site)));
    for (std::size_t location = 1; location < places_.size(); ++location) {
      const auto user = std::ranges::find_if(
          handover_.accesses, [&](std::size_t number) { return location_of(number) == location; });
      slice_.comment +=
          fmt::format("; {}: {}", kNames[location], source_line(history_.site(access(*user).site)));
    }
    slice_.comment += is_promoted_ ? "; a plain flag with fences is taken as relaxed" : "";
  }

  const History& history_;
  const AccessPair& pair_;
  const Handover& handover_;
  LitmusSlice slice_;
  std::vector<MemoryPlace> places_;                             // by location
  std::vector<std::map<std::uint64_t, std::uint64_t>> values_;  // by location: their numbers
  std::vector<std::uint64_t> most_;                             // by location: the last number
  std::set<std::size_t> knows_initial_;                         // accesses that read number 0
  std::vector<std::uint32_t> ctas_, clusters_;                  // by their numbers in the slice
  std::vector<std::size_t> instances_;                          // barriers
  std::map<std::size_t, std::uint64_t> ends_;                   // by access: what it writes
  std::map<std::size_t, std::pair<std::uint32_t, std::uint32_t>> registers_;  // thread, register
  bool is_promoted_ = false;
};

}  // namespace

std::string source_line(const ptx::Site& site) {
  for (const ptx::SourceFrame& frame : site.frames) {
    if (!frame.file.empty() && !report::is_toolkit_header(frame.file)) {
      return fmt::format("{}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
    }
  }
  return fmt::format("{}#{}", site.function, site.ordinal);
}

std::string why_not_in_models(const wire::SiteInfo& access) {
  return access.asynchrony != wire::Asynchrony::kNone ? "one of them is an asynchronous copy"
         : access.proxy != wire::Proxy::kGeneric ? "one of them is a load by the read-only path"
                                                 : "";
}

std::string LitmusSlice::text() const {
  std::string text = memory_model::litmus_text(test);
  return text.insert(text.find('\n') + 1, '"' + comment + "\"\n");
}

Expected<LitmusSlice> slice_of(const History& history, const AccessPair& pair,
                               const Handover& handover) {
  return Slicer(history, pair, handover).run();
}

SliceVerdict verdict_of(const LitmusSlice& slice) {
  memory_model::ExploreOptions options;
  options.seconds = kSeconds;
  options.races = true;
  const memory_model::Exploration found =
      memory_model::explore(slice.test, memory_model::Model::kPtx75, options);
  const auto first = memory_model::first_registers(slice.test.program);
  return {
      .is_racy = found.race.has_value(),
      .is_reached = std::ranges::any_of(
          found.finals,
          [&](const auto& each) { return memory_model::holds(slice.assumed, first, each.first); }),
      .bound = found.bound};
}

}  // namespace barracuda::weak_memory
