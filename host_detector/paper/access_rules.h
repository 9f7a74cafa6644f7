// The rules for rd, wr and atm (BARRACUDA, PLDI 2017, Figures 2 and 3): holds an access of a lane
// against R and W of its location, reports the races, and updates them.
#pragma once

#include <cstdint>

#include "host_detector/paper/engine_state.h"

namespace barracuda::detector::paper {

enum class Access : std::uint8_t {
  kRead,         // rd
  kWrite,        // wr
  kAtomic,       // atm, and a relaxed store
  kRelaxedRead,  // a relaxed load, which the paper does not know: no race with atomics
};

// The bytes that one lane touches.
struct Touched {
  std::uint64_t tagged = 0;
  std::uint64_t bytes = 0;
  bool agrees = false;  // a store of what the lanes that overlap store
};

class AccessRules {
 public:
  explicit AccessRules(EngineState& engine) : engine_(engine) {}

  // False if the address cannot be.
  bool apply(const Actor& actor, std::uint32_t lane, wire::SiteId site, Access access,
             const Touched& touched);

 private:
  struct Check;

  void check_against(Check& check, VariableState& state);
  void hold_against_write(Check& check, const Stamp& write);
  void hold_against_reads(Check& check, const Reads& reads);
  void report(Check& check, const Stamp& older, std::uint32_t older_lane, Severity severity);
  [[nodiscard]] bool is_before(const Check& check, const Stamp& older, std::uint32_t lane) const;
  [[nodiscard]] bool is_all_before(const Check& check, const Stamp& older) const;
  [[nodiscard]] static RaceKind kind_of(const Check& check, const Stamp& older);

  EngineState& engine_;
};

}  // namespace barracuda::detector::paper
