#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::updates {
namespace {

// Follows values through a function in the order of its text: compilers write a value before what
// uses it. Of its branches only a jump is heeded there: what was loaded on the way to it is not in
// the text behind it, the other way of an `if`, but where it leads to. Whether any way at all leads
// from a load to a store is asked of the control flow, once the two make a pair: one way of an `if`
// may loop, or return, before the other begins.
class Finder {
 public:
  Finder(const Program& program, const ControlFlow& flow) : program_(program), flow_(flow) {}

  // `site` is the last site of the statement, which may be no access (a branch, where the paper's
  // model logs them), or null.
  void read(std::size_t statement, PlannedSite* site) {
    const Statement& current = program_.module.statements[statement];
    if (current.kind == StatementKind::kLabel) {
      arrive(current.label);
    }
    if (current.kind != StatementKind::kInstruction || current.instruction.operands.empty()) {
      return;
    }
    follow_branch(current.instruction);
    const Effect& effect = program_.effects[statement];
    const bool is_weak = site != nullptr && address_of(current, site->effect) != nullptr &&
                         site->effect.order == wire::MemoryOrder::kWeak &&
                         site->info.asynchrony == wire::Asynchrony::kNone;
    if (is_weak && effect.opcode_class == OpcodeClass::kStore) {
      store(current, *site);
      return;
    }
    const Sources sources = sources_of(current.instruction);
    if (effect.opcode_class == OpcodeClass::kStore) {
      return;
    }
    if (site != nullptr && effect.opcode_class == OpcodeClass::kAtomic) {
      leave_to_atomic(current, *site);
    }
    const Operand& destination = current.instruction.operands[0];
    visit_registers(destination, [&](const Operand& written) {
      std::erase_if(open_, [&](const Load& load) { return load.base == written.name; });
      sources_[written.name] = sources;
    });
    if (current.instruction.opcode == Opcode::kSetp) {
      for (const std::size_t load : sources) {
        loads_[load].decides = true;
      }
    }
    if (is_weak && effect.opcode_class == OpcodeClass::kLoad) {
      open(current, *site, destination);
    }
  }

 private:
  static constexpr std::size_t kMostSources = 4, kMostOpen = 32;
  using Sources = boost::container::small_vector<std::size_t, kMostSources>;  // the newest loads

  struct Found {
    PlannedSite* site = nullptr;
    bool decides = false;
    PlannedSite* store = nullptr;     // with which it makes an update
    std::vector<std::size_t> stored;  // what that one stores is made of
  };

  // A load whose address register still holds its address.
  struct Load {
    std::string_view base;
    std::int64_t offset = 0;
    std::size_t index = 0;  // in loads_
  };

  // To a label that comes later.
  struct Jump {
    std::string_view label;
    std::vector<Load> loads;
  };

  [[nodiscard]] Sources sources_of(const Instruction& instruction) const {
    Sources all;
    for (std::size_t operand = 1; operand < instruction.operands.size(); ++operand) {
      visit_registers(instruction.operands[operand], [&](const Operand& used) {
        if (const auto known = sources_.find(used.name); known != sources_.end()) {
          all.insert(all.end(), known->second.begin(), known->second.end());
        }
      });
    }
    std::ranges::sort(all, std::greater<>());
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    all.resize(std::min(all.size(), kMostSources));
    return all;
  }

  static const Operand* base_of(const Operand& address) {
    const Operand& base = address.kind == Operand::Kind::kAddress ? address.elements[0] : address;
    const bool is_name =
        base.kind == Operand::Kind::kRegister || base.kind == Operand::Kind::kSymbol;
    return is_name ? &base : nullptr;
  }

  // What has been opened since the last label or branch: it comes by here alone.
  std::vector<Load> take_since_branch() {
    const auto first = std::ranges::find_if(
        open_, [&](const Load& load) { return load.index >= first_since_branch_; });
    std::vector<Load> taken(first, open_.end());
    open_.erase(first, open_.end());
    return taken;
  }

  void follow_branch(const Instruction& instruction) {
    const bool is_jump = instruction.opcode == Opcode::kBra && instruction.predicate.empty();
    if (is_jump) {
      jumps_.push_back({.label = instruction.operands[0].name, .loads = take_since_branch()});
    }
    if (instruction.opcode == Opcode::kBra) {
      first_since_branch_ = loads_.size();
    }
  }

  void arrive(std::string_view label) {
    for (Jump& jump : jumps_) {
      if (jump.label == label) {
        open_.insert(open_.end(), jump.loads.begin(), jump.loads.end());
        jump.loads.clear();
      }
    }
    first_since_branch_ = loads_.size();
  }

  void open(const Statement& statement, PlannedSite& site, const Operand& destination) {
    const Operand& address = *address_of(statement, site.effect);
    const Operand* const base = base_of(address);
    if (base == nullptr || base->name == destination.name) {
      return;
    }
    if (open_.size() >= kMostOpen) {
      open_.erase(open_.begin());
    }
    open_.push_back({.base = base->name, .offset = address.offset, .index = loads_.size()});
    visit_registers(destination,
                    [&](const Operand& written) { sources_[written.name] = {loads_.size()}; });
    loads_.push_back({.site = &site});
  }

  // Who looks at a place before an atomic there (`if (*lock == 0 && atomicExch(lock, 1) == 0)`) and
  // later stores there (to unlock) updates it by the atomic: the load is no half of an update.
  void leave_to_atomic(const Statement& statement, const PlannedSite& site) {
    const Operand* const address = address_of(statement, site.effect);
    const Operand* const base = address != nullptr ? base_of(*address) : nullptr;
    if (base != nullptr) {
      std::erase_if(open_, [&](const Load& load) {
        return load.base == base->name && load.offset == address->offset;
      });
    }
  }

  void store(const Statement& statement, PlannedSite& site) {
    const Operand& address = *address_of(statement, site.effect);
    const Operand* const base = base_of(address);
    const Sources sources = sources_of(statement.instruction);
    for (const Load& load : open_) {
      Found& found = loads_[load.index];
      const bool is_there = base != nullptr && load.base == base->name &&
                            load.offset == address.offset &&
                            found.site->info.element_bytes == site.info.element_bytes;
      if (is_there && (found.decides || std::ranges::find(sources, load.index) != sources.end()) &&
          leads_to(found.site->statement, site.statement)) {
        found.site->update = site.update = number_of(*found.site);
        found.store = &site;
        found.stored.assign(sources.begin(), sources.end());
        note_exchange(load.index);
      }
    }
  }

  // What the update of `own` stores is made of the value of another one, and the other way round:
  // the two are one.
  void note_exchange(std::size_t own) {
    const Found& found = loads_[own];
    for (const std::size_t source : found.stored) {
      const Found& other = loads_[source];
      if (source != own && other.store != nullptr && other.store != found.store &&
          std::ranges::find(other.stored, own) != other.stored.end()) {
        found.site->update = found.store->update = other.store->update;
      }
    }
  }

  // Of the update that the load is of: from 1, in its module.
  [[nodiscard]] std::uint32_t number_of(const PlannedSite& load) const {
    return load.update != 0 ? load.update
                            : static_cast<std::uint32_t>(&load - program_.sites.data()) + 1;
  }

  // `from` stands before `to` in the text.
  [[nodiscard]] bool leads_to(std::size_t from, std::size_t to) const {
    const std::uint32_t target = flow_.block_of(to);
    std::vector<std::uint32_t> open{flow_.block_of(from)};
    std::vector<bool> seen(flow_.blocks.size());
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      if (block == target) {
        return true;
      }
      for (const std::uint32_t next : flow_.blocks[block].successors) {
        if (!seen[next]) {
          seen[next] = true;
          open.push_back(next);
        }
      }
    }
    return false;
  }

  const Program& program_;
  const ControlFlow& flow_;
  std::vector<Found> loads_;
  std::vector<Load> open_;
  std::vector<Jump> jumps_;
  std::size_t first_since_branch_ = 0;                            // in loads_
  boost::unordered_flat_map<std::string_view, Sources> sources_;  // of what registers hold
};

}  // namespace

Expected<void> run(Program& program) {
  auto site = program.sites.begin();
  while (site != program.sites.end()) {
    const Function& function = program.function(site->function);
    TRY(const ControlFlow* const flow, program.flow_of(site->function));
    Finder finder(program, *flow);
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      PlannedSite* here = nullptr;
      while (site != program.sites.end() && site->statement == i) {
        here = &*site++;
      }
      finder.read(i, here);
    }
    while (site != program.sites.end() && site->statement == function.body_end) {
      ++site;
    }
  }
  return {};
}

}  // namespace barracuda::ptx::updates
