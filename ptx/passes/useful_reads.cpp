#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/demanded_bits.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/analysis/use_condition.h"
#include "ptx/control_flow.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::useful_reads {
namespace {

// What may be read in part or not at all: a volatile or atomic load is made as it is written, and
// one that synchronises is more than a read.
bool is_plain_load(const PlannedSite& site) {
  return site.effect.opcode_class == OpcodeClass::kLoad && site.hook == HookKind::kAccess &&
         site.info.operation == wire::Operation::kRead &&
         site.info.order == wire::MemoryOrder::kWeak &&
         site.info.asynchrony == wire::Asynchrony::kNone && site.info.element_bytes <= 8;
}

// A run of bytes of an access.
struct Piece {
  std::uint32_t begin = 0, bytes = 0;
};

std::vector<Piece> pieces_of(std::uint32_t live_bytes) {
  std::vector<Piece> pieces;
  for (std::uint32_t begin = 0; live_bytes >> begin != 0;) {
    begin += static_cast<std::uint32_t>(std::countr_zero(live_bytes >> begin));
    const auto bytes = static_cast<std::uint32_t>(std::countr_one(live_bytes >> begin));
    pieces.push_back({.begin = begin, .bytes = bytes});
    begin += bytes;
    if (begin >= 32) {
      break;
    }
  }
  return pieces;
}

PlannedSite site_of(const PlannedSite& whole, const Piece& piece) {
  PlannedSite site = whole;
  const std::uint32_t element = whole.info.element_bytes;
  site.offset = piece.begin;
  if (piece.begin % element == 0 && piece.bytes % element == 0) {
    site.info.element_count = static_cast<std::uint8_t>(piece.bytes / element);
  } else {
    const bool is_scalar = std::has_single_bit(piece.bytes) && piece.bytes <= 8;
    site.info.element_bytes = static_cast<std::uint8_t>(is_scalar ? piece.bytes : 1);
    site.info.element_count = static_cast<std::uint8_t>(is_scalar ? 1 : piece.bytes);
  }
  return site;
}

// The loads of one function.
class FunctionReads {
 public:
  FunctionReads(const Program& program, std::uint32_t function, const ControlFlow& flow)
      : program_(program),
        uses_(program, program.function(function)),
        constants_(program.module, program.function(function)),
        demanded_(program, uses_, constants_),
        conditions_(program, flow, uses_, constants_) {}

  // Adds to `sites` the sites of a load, most often the one that is given. `later` are the sites of
  // the statements behind it.
  void add(PlannedSite site, std::span<const PlannedSite> later, std::vector<PlannedSite>& sites) {
    const std::uint32_t live = live_bytes(site);
    if (live == 0) {  // compilers leave no such load: somebody wrote it
      sites.push_back(std::move(site));
      return;
    }
    UseCondition condition = conditions_.of(site.statement);
    if (condition.at > site.statement && orders_before(later, condition.at)) {
      condition.kind = UseCondition::Kind::kUnknown;
    }
    site.info.speculated = !program_.options.for_paper &&
                           (condition.kind == UseCondition::Kind::kUnknown || condition.is_guess);
    if (condition.kind == UseCondition::Kind::kKnown) {
      site.logged_at = condition.at;
      site.use_condition = std::move(condition.text);
    }
    for (const Piece& piece : pieces_of(live)) {
      sites.push_back(site_of(site, piece));
    }
  }

 private:
  // A flag store or a poll, which orders the thread though it is a plain access.
  static bool orders_before(std::span<const PlannedSite> later, std::size_t statement) {
    for (const PlannedSite& site : later) {
      if (site.statement >= statement) {
        break;
      }
      if (site.hook != HookKind::kAccess && site.hook != HookKind::kNone) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::uint32_t live_bytes(const PlannedSite& site) {
    const Operand& destination = program_.module.statements[site.statement].instruction.operands[0];
    const std::uint32_t element = site.info.element_bytes;
    std::uint32_t live = 0;
    for (std::uint32_t n = 0; n < site.info.element_count; ++n) {
      const Operand* const named = element_of(destination, n, site.info.element_count);
      const std::uint64_t bits =
          named == nullptr ? ~std::uint64_t{0} : demanded_.of_loaded(*named, site.effect.type);
      for (std::uint32_t byte = 0; byte < element; ++byte) {
        const bool is_live = (bits >> (8 * byte) & 0xFF) != 0;
        live |= static_cast<std::uint32_t>(is_live) << (n * element + byte);
      }
    }
    return live;
  }

  // Null if it is not understood.
  static const Operand* element_of(const Operand& destination, std::uint32_t n,
                                   std::uint32_t count) {
    const Operand* const element = destination.kind != Operand::Kind::kVector ? &destination
                                   : n < destination.elements.size() ? &destination.elements[n]
                                                                     : nullptr;
    const bool is_whole = destination.kind == Operand::Kind::kVector
                              ? destination.elements.size() == count
                              : count == 1;
    const bool is_understood =
        element != nullptr && is_whole &&
        (element->kind == Operand::Kind::kSink ||
         (element->kind == Operand::Kind::kRegister && element->component.empty()));
    return is_understood ? element : nullptr;
  }

  const Program& program_;
  RegisterUses uses_;
  Constants constants_;
  DemandedBits demanded_;
  UseConditions conditions_;
};

}  // namespace

Expected<void> run(Program& program) {
  std::vector<PlannedSite> sites;
  sites.reserve(program.sites.size());
  std::optional<FunctionReads> reads;
  std::uint32_t entered = ~std::uint32_t{0};
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    PlannedSite& site = program.sites[i];
    if (!is_plain_load(site)) {
      sites.push_back(std::move(site));
      continue;
    }
    if (entered != site.function) {
      entered = site.function;
      TRY(const ControlFlow* const flow, program.flow_of(entered));
      reads.emplace(program, entered, *flow);
    }
    ASSERT(reads.has_value());
    reads->add(std::move(site), std::span(program.sites).subspan(i + 1), sites);
  }
  program.sites = std::move(sites);
  return {};
}

}  // namespace barracuda::ptx::useful_reads
