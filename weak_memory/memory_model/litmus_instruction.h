// One instruction of a litmus file, and what the names in it mean for the thread that has it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/litmus_words.h"

namespace barracuda::memory_model {

// The names that one thread knows.
struct ThreadNames {
  // Registers get their number where they first occur.
  std::vector<std::string> registers;
  std::vector<bool> is_set;                        // by register: it was written before
  std::map<std::string, std::uint32_t> addresses;  // name to number in LitmusTest::addresses
  std::map<std::string, std::uint32_t> pointers;   // register that holds an address, likewise

  std::uint32_t register_of(const std::string& name);  // a new one if need be
};

struct Statement {
  Instruction instruction;
  std::optional<Word> label;  // that a jump names; its destination is left open
};

// Makes a location of a name that an access has and nothing declares; every thread knows it then.
using DeclareLocation = std::function<Expected<void>(const std::string& name, std::uint32_t line)>;

// Takes one instruction, without the sign behind it.
Expected<Statement> read_statement(Words& words, ThreadNames& names,
                                   const std::vector<Address>& addresses,
                                   const DeclareLocation& declare);

}  // namespace barracuda::memory_model
