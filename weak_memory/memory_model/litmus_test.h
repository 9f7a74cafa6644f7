// A litmus test: a small program, the names in it, and what is asked of how it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weak_memory/memory_model/litmus_condition.h"
#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

// kExists: some execution ends so. kNever (`~exists`): none does. kForall: each does.
enum class Quantifier : std::uint8_t { kExists, kNever, kForall };

// A name by which threads reach a location.
struct Address {
  std::string name;  // unique; of a shared location of several CTAs `x@CTA`
  std::uint32_t location = 0;
  Proxy proxy = Proxy::kGeneric;
  bool is_alias = false;
  std::uint32_t of = 0;       // of an alias: the address that the test says it is an alias of
  std::uint32_t generic = 0;  // the address in the generic proxy that it stands for
};

struct LitmusTest {
  std::string name;
  Program program;
  std::vector<std::string> threads;
  std::vector<std::vector<std::string>> registers;  // by thread
  std::vector<Address> addresses;       // by number; first those of the declared locations
  std::vector<std::string> undeclared;  // locations that only accesses name (Dialect::kDat3m)
  Quantifier quantifier = Quantifier::kExists;
  Condition condition;
  std::optional<Condition> filter;  // executions that end otherwise do not count
  std::optional<Condition> always;  // of every state, for models that have states
  std::vector<Term> shown;          // `locations [...]`: printed as well
};

// Whether it asks for, or shows, what a location holds at the end.
bool asks_memory(const LitmusTest& test);

}  // namespace barracuda::memory_model
