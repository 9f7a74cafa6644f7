// A plan: a run of a program with a weak memory that can be repeated. Text, one fact a line:
//
//   barracuda-plan 1
//   program ./dot 1024
//   seed 7
//   weakness delay-stores=0.5 delay-spaces=shared
//   decision launch=1 kernel=_Z3dotPi block=3,0,0 thread=0,0,0 store=14
//   fence after=_Z3dotPi#14 kind=sc scope=gpu
//   fence before=_Z3dotPi#15 kind=acq_rel scope=cta
//   fence remove=_Z3dotPi#20
//   expect failure=output output-sha=9f86d081
//
// The first line stands first; the order of the others says nothing, and to_string() sorts them.
// Lines that begin with # are comments. Values have their blanks written as %20; what stands behind
// `program` is the rest of the line. Decisions are in the form of weak_log.h, fences as in
// ptx/fence_text.h. Version 1 grows by new lines alone: an unknown one is an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/options.h"
#include "emulator/weakness.h"
#include "ptx/edit_order.h"

namespace barracuda::session {

struct PlannedFence {
  ptx::OrderEdit edit;     // InsertFence or RemoveFence
  std::uint32_t line = 0;  // of the file; 0: of no file

  friend bool operator==(const PlannedFence& left, const PlannedFence& right) {
    return left.edit == right.edit;
  }
};

struct Plan {
  struct Expectation {
    std::string failure;     // as the oracle calls it: "output", "hang" …
    std::string output_sha;  // of the program's standard output; empty: not known

    friend bool operator==(const Expectation&, const Expectation&) = default;
  };

  std::string program;  // the command, for people
  std::optional<std::uint64_t> seed;
  std::map<std::string, std::string> weakness;  // options of the run by name
  std::vector<emulator::Decision> decisions;
  std::vector<PlannedFence> fences;
  std::optional<Expectation> expectation;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Errors, with the file as it is called here and the line: a line of another form, another version.
Expected<Plan> parse_plan(std::string_view text, const std::string& file);
std::string to_string(const Plan& plan);

// Whether the option weakness names a plan, and no shape by name ("bugaroo").
bool names_plan(const Options& options);
// That plan; an empty one if it names none. Errors: a file that cannot be read or understood.
Expected<Plan> read_plan(const Options& options);
// The plan's options become those of the run; an option that differs from its default was given by
// the user and stays. Errors: those of read_plan(), and a value that the option does not take.
Expected<void> take_plan(Options& options);

}  // namespace barracuda::session
