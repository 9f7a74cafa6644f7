// What a name means at a point of a function: registers, locals and shared variables of the nested
// blocks, innermost first.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/assert.h"
#include "emulator/state/instruction.h"
#include "ptx/module.h"

namespace barracuda::emulator {

// How a register is laid out.
enum class RegisterClass : std::uint8_t { kPredicate, kWord, kDoubleWord, kQuadWord };

RegisterClass register_class(ptx::ScalarType type);
std::uint32_t register_bytes(RegisterClass register_class);

inline constexpr std::uint32_t kNoRegister = ~std::uint32_t{0};

struct Symbol {
  enum class Kind : std::uint8_t {
    kRegister,
    kLocal,  // .local variables and .param variables of calls and functions
    kShared,
    kKernelParameter,  // at `offset` of the parameter buffer
  };
  Kind kind = Kind::kRegister;
  RegisterClass register_class = RegisterClass::kWord;
  std::uint8_t vector = 1;
  bool is_parameter = false;           // a .param variable of a function: its address is generic
  std::uint32_t number = kNoRegister;  // of a register, or of a vector's first
  std::uint32_t offset = 0, bytes = 0;
  const ptx::Variable* variable = nullptr;  // kShared
};

class Symbols {
 public:
  void open() { scopes_.emplace_back(); }

  void close() {
    ASSERT(!scopes_.empty());
    scopes_.pop_back();
  }

  void declare(std::string_view name, const Symbol& symbol);
  // Registers name0 … name(count-1); each gets its number when it is first found.
  void declare_range(std::string_view name, const Symbol& symbol, std::uint32_t count);

  // Null if the name is not declared. A register without a number is to be given one by the caller.
  Symbol* find(std::string_view name);

 private:
  struct Range {
    Symbol first;
    std::vector<Symbol> members;
  };

  struct Scope {
    boost::unordered_flat_map<std::string_view, Symbol> names;
    boost::unordered_flat_map<std::string_view, Range> ranges;
  };

  std::vector<Scope> scopes_;
};

}  // namespace barracuda::emulator
