#include <algorithm>
#include <span>
#include <vector>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/program.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::reduce_in_block {
namespace {

// Bytes that a logged access of this block stands for.
struct Covered {
  std::string_view base, component;
  StateSpace space;
  wire::Proxy proxy;
  std::int64_t begin, end;
  bool is_write;
};

class Reducer {
 public:
  explicit Reducer(Program& program) : program_(program) {}

  // `sites` are those of the statement.
  void read(std::size_t statement, std::span<PlannedSite> sites) {
    const Statement& current = program_.module.statements[statement];
    if (current.kind == StatementKind::kLocation || current.kind == StatementKind::kPragma ||
        current.kind == StatementKind::kVariable) {
      return;
    }
    if (current.kind != StatementKind::kInstruction) {
      // A label starts a block; a scope may change what a name means.
      covered_.clear();
      return;
    }
    const Effect& effect = program_.effects[statement];
    const bool is_plain = is_shared_access(effect) && effect.order == wire::MemoryOrder::kWeak &&
                          (sites.empty() || !sites.back().info.numbered);
    if (!is_plain && !is_harmless(effect)) {
      covered_.clear();
    } else if (is_plain) {
      for (PlannedSite& site : sites) {
        cover(current, site);
      }
    }
    if (effect.opcode_class != OpcodeClass::kStore && !current.instruction.operands.empty()) {
      forget(current.instruction.operands[0]);
    }
  }

 private:
  static bool is_harmless(const Effect& effect) {
    const OpcodeClass c = effect.opcode_class;
    const bool is_private = (c == OpcodeClass::kLoad || c == OpcodeClass::kStore) &&
                            !is_shared_access(effect) && effect.space != StateSpace::kTex;
    return touches_no_memory(effect) || (!effect.not_covered && is_private);
  }

  void cover(const Statement& statement, PlannedSite& site) {
    const Operand& address = *address_of(statement, site.effect);
    const Operand& base = address.kind == Operand::Kind::kAddress ? address.elements[0] : address;
    if (base.kind != Operand::Kind::kRegister && base.kind != Operand::Kind::kSymbol) {
      return;
    }
    const std::int64_t offset = address.offset + site.offset;
    const Covered bytes{
        .base = base.name,
        .component = base.component,
        .space = site.effect.space,
        .proxy = site.effect.proxy,
        .begin = offset,
        .end = offset + std::int64_t{site.info.element_bytes} * site.info.element_count,
        .is_write = site.info.operation == wire::Operation::kWrite};
    if (std::ranges::any_of(covered_,
                            [&](const Covered& earlier) { return stands_for(earlier, bytes); })) {
      site.hook = HookKind::kNone;
    } else if (statement.instruction.predicate.empty() && site.use_condition.empty() &&
               !site.info.speculated) {
      covered_.push_back(bytes);
    }
  }

  static bool stands_for(const Covered& earlier, const Covered& later) {
    return earlier.base == later.base && earlier.component == later.component &&
           earlier.space == later.space && earlier.proxy == later.proxy &&
           earlier.begin <= later.begin && later.end <= earlier.end &&
           (earlier.is_write || !later.is_write);
  }

  // What a destination register addressed before is another address now.
  void forget(const Operand& destination) {
    visit_registers(destination, [&](const Operand& written) {
      std::erase_if(covered_, [&](const Covered& bytes) { return bytes.base == written.name; });
    });
  }

  Program& program_;
  std::vector<Covered> covered_;
};

}  // namespace

Expected<void> run(Program& program) {
  if (!program.options.reduce_in_block) {
    return {};
  }
  auto site = program.sites.begin();
  while (site != program.sites.end()) {
    const Function& function = program.function(site->function);
    Reducer reducer(program);
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const auto first = site;
      while (site != program.sites.end() && site->statement == i) {
        ++site;
      }
      reducer.read(i, {first, site});
    }
    while (site != program.sites.end() && site->statement == function.body_end) {
      ++site;
    }
  }
  return {};
}

}  // namespace barracuda::ptx::reduce_in_block
