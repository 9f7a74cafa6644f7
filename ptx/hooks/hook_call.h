// A call of one of the logger's functions, as text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "ptx/analysis/program.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct HookArgument {
  std::uint32_t bits;
  std::string value;
};

// `result` is the declaration of its result, if it has one, `read` what reads it.
std::string write_call(std::string_view function, std::initializer_list<HookArgument> arguments,
                       std::string_view result = {}, std::string_view read = {});

std::string hook_name(std::string_view name, bool is_generic);

// The first argument of every hook (site_word.h), but for the flags of __barracuda_operands.
std::uint32_t site_word(const PlannedSite& site);

// Null if there is none.
const Operand* operand_at(const Statement& statement, int index);

}  // namespace barracuda::ptx
