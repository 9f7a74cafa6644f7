// A call of one of the logger's functions, as text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/analysis/program.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct HookArgument {
  std::uint32_t bits;
  std::string value;
};

// Before an instruction that all lanes of a warp execute as one.
inline constexpr std::string_view kMeetInWarp = "bar.warp.sync 0xffffffff;\n";

// Before a wgmma, which ptxas (13.0) serialises where a call stands before it: it puts an arrival
// of the warpgroup (WARPGROUP.ARRIVE) behind the call, and only then brings the lanes together.
// Lanes that come back from the hook apart arrive more than once; on an H200 products of Triton's
// hung, or read shared memory that there is not. Behind a fence they are together before that.
inline constexpr std::string_view kMeetForProduct = "wgmma.fence.sync.aligned;\n";

inline HookArgument b32(std::string value) {
  return {.bits = 32, .value = std::move(value)};
}

inline HookArgument b32(std::uint32_t value) {
  return b32(std::to_string(value));
}

inline HookArgument b64(std::string value) {
  return {.bits = 64, .value = std::move(value)};
}

// A hook as the logger names it, without the prefix; a generic one takes addresses of any space.
struct Hook {
  std::string_view name;
  bool is_generic = false;
};

// Adds the hook to `called`. `result` is the declaration of its result, if it has one, `read` what
// reads it.
std::string write_call(HookNames& called, Hook hook, std::span<const HookArgument> arguments,
                       std::string_view result = {}, std::string_view read = {});

inline std::string write_call(HookNames& called, Hook hook,
                              std::initializer_list<HookArgument> arguments,
                              std::string_view result = {}, std::string_view read = {}) {
  return write_call(called, hook, std::span(arguments.begin(), arguments.size()), result, read);
}

// What stands before and after the statement of a site.
struct HookText {
  std::string before, after;
  std::string_view replacement;  // of the statement's text; empty: as it is
};

// Of a hook that gives back a number: into %__barracuda_n.
std::string write_call_for_number(HookNames& called, Hook hook,
                                  std::initializer_list<HookArgument> arguments);

// Of one that gives back whether something is so: into %__barracuda_q. Declares both registers.
std::string write_question(HookNames& called, Hook hook,
                           std::initializer_list<HookArgument> arguments);

// The first argument of every hook (site_word.h), but for the flags of __barracuda_operands.
std::uint32_t site_word(const PlannedSite& site);

// Takes the rank of the CTA in its cluster out of an address in the shared window, a register of 32
// bits: on architectures with clusters, addresses carry it.
std::string without_rank(std::string_view address, std::uint32_t arch);

// Null if there is none.
const Operand* operand_at(const Statement& statement, int index);

}  // namespace barracuda::ptx
