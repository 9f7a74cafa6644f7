// The PTX text around one site: a scope of its own, with registers that no program uses, in which
// the logger is called and, where something must follow the access, the access itself stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/module.h"

namespace barracuda::ptx {

class HookWriter {
 public:
  HookWriter(Program& program, const RegisterSizes& registers)
      : module_(program.module),
        called_(program.called_hooks),
        registers_(registers),
        arch_(program.module.target_arch()) {}

  HookText write(const PlannedSite& site, const Statement& statement);
  // Instead, of an access with a shortcut, in a guarded form.
  std::string write_guard(const PlannedSite& site, const Statement& statement);

  // The registers in which the lanes of a function keep, from where they part, who meets again.
  static std::string declare_members(std::span<const PlannedSite> sites);
  // The text of a batch (ptx/passes/load_batches.cpp), before the last of its loads.
  std::string write_batch(std::span<const PlannedSite* const> loads);

 private:
  struct Predicate {
    std::string before, after;
  };

  // What stands around the hooks before a statement, and around those behind it.
  struct Around {
    Predicate before, after;
  };

  [[nodiscard]] Predicate skip_unless(const Instruction& instruction);
  [[nodiscard]] Predicate skip_unless_used(const PlannedSite& site);
  // Around another hook: what says whether it is needed.
  [[nodiscard]] Predicate skip_if(Hook hook, std::initializer_list<HookArgument> arguments);
  // Of a strong access; nothing if it is always logged.
  [[nodiscard]] Around skip_if_left_out(const PlannedSite& site, bool is_generic);
  HookText write_event(const PlannedSite& site, const Statement& statement);
  HookText write_access(const PlannedSite& site, const Statement& statement);
  HookText write_release(const PlannedSite& site, const Statement& statement);
  HookText write_acquire(const PlannedSite& site, const Statement& statement);
  HookText write_atomic(const PlannedSite& site, const Statement& statement);

  HookText write_branch(const PlannedSite& site, const Statement& statement);
  HookText write_switch(const PlannedSite& site, const Statement& statement);
  HookText write_meet(const PlannedSite& site);
  HookText write_operands(const PlannedSite& site, const Statement& statement);
  HookText write_tensor_copy(const PlannedSite& site, const Statement& statement);
  HookText write_wait(const PlannedSite& site, const Statement& statement);
  HookText write_heap(const PlannedSite& site, const Statement& statement);

  // An address operand and the space that it is an address of.
  struct Place {
    const Operand* address = nullptr;
    StateSpace space = StateSpace::kNone;
    bool is_cluster = false;  // .shared::cluster
    std::int64_t offset = 0;  // added to the operand's own
  };

  // into := the address; tagged, unless it is_generic. Declares a register where it is shared.
  std::string write_place(std::string_view into, const Place& place, bool& is_generic) const;
  // The same in a block of its own; adds `generic_flag` to the site's word where it is generic.
  [[nodiscard]] std::string write_place(std::string_view into, const Place& place,
                                        std::uint32_t generic_flag, std::uint32_t& word) const;
  std::string write_address(const PlannedSite& site, const Statement& statement,
                            bool& is_generic) const;
  [[nodiscard]] std::string write_shared_address(std::string_view into, const Operand& base,
                                                 std::int64_t offset, bool is_cluster) const;
  // Makes of an operation's address that of the lane's part of it, or of no memory.
  [[nodiscard]] std::string write_part(const PlannedSite& site, const Statement& statement) const;
  [[nodiscard]] std::string write_operands_call(const PlannedSite& site,
                                                const Statement& statement);
  [[nodiscard]] std::string write_product_call(const PlannedSite& site, const Statement& statement);
  [[nodiscard]] std::string write_number(std::string_view destination, const Operand& operand,
                                         std::uint32_t bytes) const;
  std::string write_stored_values(const PlannedSite& site, const Statement& statement,
                                  std::uint32_t& words);
  // dest := the operand's low `bytes` bytes, zero-extended; empty if its value is not known.
  [[nodiscard]] std::string write_value(std::string_view destination, const Operand& operand,
                                        std::uint32_t bytes) const;

  Module& module_;
  HookNames& called_;
  const RegisterSizes& registers_;
  std::uint32_t arch_;
  std::uint32_t next_label_ = 0;
};

// The register for the low bits of addresses that a statement clears, and what fills it, before
// that statement.
std::string declare_low_bits(const SubWord& sub_word);
std::string write_low_bits(const SubWord& sub_word, const Statement& alignment);

// The hook that asks the states whether an access has to be logged whose value is not known.
std::string_view state_hook(const PlannedSite& site);

// The loads of a batch, at most.
inline constexpr std::size_t kMostInBatch = 16;

// First of all: where the text of a batch keeps its addresses.
std::string declare_batch();

}  // namespace barracuda::ptx
