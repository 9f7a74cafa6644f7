#include "weak_memory/memory_model/kernel_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "weak_memory/memory_model/kernel_tree.h"
#include "weak_memory/memory_model/relation.h"

namespace barracuda::memory_model {
namespace {

// Of a launch; most of them do nothing that others see.
constexpr std::uint64_t kMostLaunched = 4096;

using Coordinates = std::array<std::uint32_t, 3>;

std::uint32_t linear(const Coordinates& at, const ptx::Extent& size) {
  return (at[2] * size.y + at[1]) * size.x + at[0];
}

template <typename Visitor>
void visit_extent(const ptx::Extent& size, const Visitor& visit) {
  for (std::uint32_t z = 0; z < size.z; ++z) {
    for (std::uint32_t y = 0; y < size.y; ++y) {
      for (std::uint32_t x = 0; x < size.x; ++x) {
        visit({x, y, z});
      }
    }
  }
}

bool is_inside(const Coordinates& at, const ptx::Extent& size) {
  return at[0] < size.x && at[1] < size.y && at[2] < size.z;
}

// A thread of the launch with what is known of it.
struct Runner {
  KernelThread at;
  std::uint32_t cta = 0;
  std::string name;
  ThreadTree tree;
};

class KernelReader {
 public:
  KernelReader(const ptx::LiteralKernel& kernel, const KernelQuestion& question,
               const ExploreOptions& options)
      : kernel_(kernel), question_(question), options_(options) {}

  Expected<KernelReading> run(const std::vector<KernelThread>& threads) && {
    if (auto chosen = choose(threads); !chosen) {
      return unexpected(std::move(chosen).error());
    }
    auto found = find_values();
    if (uses_.is_stopped) {
      reading_.bound = end_.bound();
      reading_.is_useless = true;
      return std::move(reading_);
    }
    return found ? make() : unexpected(std::move(found).error());
  }

 private:
  Expected<void> choose(const std::vector<KernelThread>& threads) {
    const auto& [grid, block] = std::pair(kernel_.launch().grid, kernel_.launch().block);
    std::vector<KernelThread> all = threads;
    if (all.empty()) {
      if (grid.volume() > kMostLaunched || block.volume() > kMostLaunched ||
          grid.volume() * block.volume() > kMostLaunched) {
        return unexpected({.message = fmt::format("the launch has more than {} threads; a smaller "
                                                  "grid and block, or --threads, is needed",
                                                  kMostLaunched)});
      }
      visit_extent(grid, [&](const Coordinates& at) {
        visit_extent(block, [&](const Coordinates& thread) { all.push_back({at, thread}); });
      });
    }
    std::ranges::sort(all);
    const auto [first, last] = std::ranges::unique(all);
    all.erase(first, last);
    for (const KernelThread& each : all) {
      if (!is_inside(each.block, grid) || !is_inside(each.thread, block)) {
        return unexpected({.message = "a thread of --threads is not in the launch"});
      }
      const std::uint32_t cta = linear(each.block, grid);
      runners_.push_back({.at = each,
                          .cta = cta,
                          .name = fmt::format("B{}T{}", cta, linear(each.thread, block)),
                          .tree = {}});
    }
    return {};
  }

  // Each round knows the values that one more write can pass on (as enumeration.cpp does). At first
  // no thread sees what another does: the rounds also find which places two threads touch, and
  // which are written at all; the values are counted anew once that is known.
  Expected<void> find_values() {
    uses_.end = &end_;
    uses_.is_named = [this](const Place& place) { return is_named(place); };
    std::uint64_t most_writes = 1;
    for (std::uint64_t round = 0; round <= most_writes + 1; ++round) {
      uses_.found.clear();
      uses_.locations.clear();
      most_writes = 1;
      for (std::uint32_t i = 0; i < runners_.size(); ++i) {
        const KernelThread& at = runners_[i].at;
        TRY(runners_[i].tree, tree_of(kernel_, kernel_.start(at.block, at.thread), i,
                                      runners_[i].cta, options_.unroll, uses_));
        most_writes += runners_[i].tree.most_writes;
      }
      if (auto checked = check_sizes(); !checked) {
        return checked;
      }
      const News news = add_found();
      if (!news.values && !news.uses) {
        break;
      }
      round = news.uses ? 0 : round;
    }
    return {};
  }

  struct News {
    bool values = false, uses = false;
  };

  News add_found() {
    News news;
    for (const auto& [place, use] : uses_.found) {
      PlaceUse& known = uses_.known[place];
      const std::size_t values = known.values.size();
      const std::size_t threads = known.threads.size();
      known.values.insert(use.values.begin(), use.values.end());
      known.threads.insert(use.threads.begin(), use.threads.end());
      news.values = news.values || values != known.values.size();
      news.uses =
          news.uses || threads != known.threads.size() || (use.is_written && !known.is_written);
      news.uses = news.uses || (use.has_flag_store && !known.has_flag_store) ||
                  (use.has_poll && !known.has_poll) || use.apart_before > known.apart_before;
      known.is_written = known.is_written || use.is_written;
      known.has_flag_store = known.has_flag_store || use.has_flag_store;
      known.has_poll = known.has_poll || use.has_poll;
      known.apart_before = std::max(known.apart_before, use.apart_before);
      known.line = use.line;
    }
    return news;
  }

  // Locations are accessed whole.
  [[nodiscard]] Expected<void> check_sizes() const {
    for (auto next = uses_.found.begin(); next != uses_.found.end();) {
      const auto& [place, use] = *next++;
      if (next == uses_.found.end() || next->first.is_shared != place.is_shared ||
          next->first.cta != place.cta || next->first.address >= place.address + place.bytes) {
        continue;
      }
      if (!use.is_written && !next->second.is_written) {
        continue;
      }
      return unexpected(
          {.message =
               fmt::format("accesses of {} and {} bytes overlap at {} (line {}); explore "
                           "knows whole locations only",
                           place.bytes, next->first.bytes,
                           kernel_.name_of(place.is_shared, place.address, place.bytes), use.line),
           .line = next->second.line});
    }
    return {};
  }

  [[nodiscard]] bool is_named(const Place& place) const {
    return (question_.shows_all && !place.is_shared) ||
           std::ranges::any_of(question_.named, [&](const ptx::LiteralElement& each) {
             return each.is_shared == place.is_shared &&
                    each.address < place.address + place.bytes &&
                    place.address < each.address + each.bytes;
           });
  }

  Expected<KernelReading> make() {
    reading_.threads_left_out =
        std::erase_if(runners_, [this](const Runner& each) { return !takes_part(each.tree); });
    if (runners_.size() > kMostKernelThreads) {
      return unexpected(
          {.message = fmt::format("{} threads {}; explore takes at most {}: a smaller grid and "
                                  "block, or --threads, is needed",
                                  runners_.size(),
                                  options_.progress ? "touch memory that others see, or may wait"
                                                    : "touch memory that others see",
                                  kMostKernelThreads)});
    }
    LitmusTest& test = reading_.test;
    reading_.promoted = {uses_.promoted.begin(), uses_.promoted.end()};
    add_named();
    if (uses_.locations.size() > kMostLocations) {
      return unexpected({.message = fmt::format("the kernel's threads share {} places of memory; "
                                                "explore takes at most {}",
                                                uses_.locations.size(), kMostLocations)});
    }
    add_locations();
    for (Runner& each : runners_) {
      if (each.tree.is_cut) {
        reading_.bound =
            fmt::format("{} rounds of a loop, or {} events", options_.unroll, kMostEvents);
      }
      test.threads.push_back(each.name);
      std::vector<std::string>& names = test.registers.emplace_back();
      for (std::uint32_t i = 0; i < each.tree.registers; ++i) {
        names.push_back(fmt::format("r{}", i + 1));
      }
      Thread thread;
      thread.cta = each.cta;
      thread.cluster = cluster_of(each.at.block);
      thread.registers = each.tree.registers;
      thread.instructions = std::move(each.tree.instructions);
      test.program.threads.push_back(std::move(thread));
    }
    make_barriers_wait();
    return std::move(reading_);
  }

  // Whether others see anything of it, or, where that is asked, it may not end.
  [[nodiscard]] bool takes_part(const ThreadTree& tree) const {
    const bool may_wait =
        tree.has_spin ||
        std::ranges::any_of(tree.barriers, [](const auto& passed) { return !passed.empty(); });
    return tree.has_accesses || (options_.progress && may_wait);
  }

  // A CTA without clusters is one of its own.
  [[nodiscard]] std::uint32_t cluster_of(const Coordinates& block) const {
    const ptx::Extent cluster = kernel_.cluster();
    const ptx::Extent& grid = kernel_.launch().grid;
    const ptx::Extent clusters{.x = (grid.x + cluster.x - 1) / cluster.x,
                               .y = (grid.y + cluster.y - 1) / cluster.y,
                               .z = (grid.z + cluster.z - 1) / cluster.z};
    return linear({block[0] / cluster.x, block[1] / cluster.y, block[2] / cluster.z}, clusters);
  }

  void add_named() {
    for (const ptx::LiteralElement& each : question_.named) {
      uses_.locations.try_emplace(place_of(each),
                                  static_cast<std::uint32_t>(uses_.locations.size()));
    }
  }

  // Of shared memory, that of the first CTA.
  static Place place_of(const ptx::LiteralElement& element) {
    return {.is_shared = element.is_shared,
            .cta = 0,
            .address = element.address,
            .bytes = element.bytes};
  }

  void add_locations() {
    LitmusTest& test = reading_.test;
    test.program.locations = static_cast<std::uint32_t>(uses_.locations.size());
    test.program.about.resize(uses_.locations.size());
    test.addresses.resize(uses_.locations.size());
    for (const auto& [place, number] : uses_.locations) {
      const auto initial = kernel_.initial(place.is_shared, place.address, place.bytes);
      test.program.about[number] = {.initial = kept_value(initial.value_or(0), place),
                                    .is_shared = place.is_shared};
      std::string name = kernel_.name_of(place.is_shared, place.address, place.bytes);
      if (place.is_shared && kernel_.launch().grid.volume() > 1) {
        name += fmt::format("@{}", place.cta);
      }
      test.addresses[number] = {.name = std::move(name), .location = number, .generic = number};
      const auto known = uses_.known.find(place);
      if (question_.shows_all && !place.is_shared && known != uses_.known.end() &&
          known->second.is_written) {
        test.shown.push_back({.kind = Term::Kind::kLocation, .number = number, .address = number});
      }
    }
    test.condition = question_.condition;
    renumber(test.condition);
  }

  void renumber(Condition& condition) const {
    for (Term* const term : {&condition.left, &condition.right}) {
      if (term->kind == Term::Kind::kLocation) {
        term->number = term->address = uses_.locations.at(place_of(question_.named[term->number]));
      }
    }
    std::ranges::for_each(condition.parts, [&](Condition& each) { renumber(each); });
  }

  // A barrier opens when all threads of the CTA that take part have come to it. Where they do not
  // all come to the same ones, those that have ended count as arrived: then it is left open.
  void make_barriers_wait() {
    for (const Runner& each : runners_) {
      for (const Runner& other : runners_) {
        if (each.cta == other.cta &&
            (each.tree.barriers.size() > 1 || each.tree.barriers != other.tree.barriers)) {
          reading_.has_uneven_barriers = true;
          return;
        }
      }
    }
    auto& threads = reading_.test.program.threads;
    for (Thread& thread : threads) {
      const auto together = std::ranges::count(threads, thread.cta, &Thread::cta);
      for (Instruction& each : thread.instructions) {
        if (each.kind == Instruction::Kind::kBarrier) {
          each.quorum = Operand{.constant = static_cast<std::uint64_t>(together), .read = {}};
        }
      }
    }
  }

  const ptx::LiteralKernel& kernel_;
  const KernelQuestion& question_;
  const ExploreOptions& options_;
  SearchEnd end_{options_};
  std::vector<Runner> runners_;
  KernelUses uses_;
  KernelReading reading_;
};

}  // namespace

Expected<KernelReading> read_kernel(const ptx::LiteralKernel& kernel,
                                    const KernelQuestion& question,
                                    const std::vector<KernelThread>& threads,
                                    const ExploreOptions& options) {
  return KernelReader(kernel, question, options).run(threads);
}

}  // namespace barracuda::memory_model
