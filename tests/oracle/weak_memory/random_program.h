// Random programs for the memory models; they shrink towards doing less.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "weak_memory/memory_model/litmus_test.h"
#include "weak_memory/memory_model/program.h"

namespace barracuda::oracle {

// One instruction of one thread.
struct ProgramChoice {
  std::uint8_t who = 0, what = 0, where = 0, how = 0, scope = 0;
};

inline rc::Gen<ProgramChoice> program_choices() {
  const auto number = rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>());
  return rc::gen::build<ProgramChoice>(
      rc::gen::set(&ProgramChoice::who, number), rc::gen::set(&ProgramChoice::what, number),
      rc::gen::set(&ProgramChoice::where, number), rc::gen::set(&ProgramChoice::how, number),
      rc::gen::set(&ProgramChoice::scope, number));
}

// Two to four threads in one to three CTAs, two or three locations, at most twelve instructions and
// as many accesses as the axioms enumerate in milliseconds. `shape`: which threads are in which
// CTA.
memory_model::Program program_of(std::uint8_t shape, const std::vector<ProgramChoice>& choices);

// Its kernel `test`, with parameters: the locations, `distance` bytes from each other, and the
// outcome, four bytes a register. The threads of a CTA are `lanes_apart` lanes from each other.
struct KernelLayout {
  std::uint32_t distance = 4, lanes_apart = 1;
};

std::string kernel_of(const memory_model::Program& program, const KernelLayout& layout);

// The same for the explorer, which numbers the barriers of a thread and asks for no location.
memory_model::LitmusTest litmus_of(const memory_model::Program& program);

// How it reads in a failed test.
std::string describe(const memory_model::Program& program);

}  // namespace barracuda::oracle
