// In which lanes what a load puts into a register reaches anything: those in which a select takes
// it, a predicate that it is combined with lets it through, a mask is not zero, or a branch leads
// to code that reads it. Compilers load for all lanes what the source reads in some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/flow_order.h"
#include "ptx/analysis/implied_literals.h"
#include "ptx/analysis/reached_uses.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/analysis/use_terms.h"
#include "ptx/analysis/values_at_load.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

struct UseCondition {
  enum class Kind : std::uint8_t {
    kAlways,   // or nothing is known
    kKnown,    // `text` puts it into %__barracuda_u, at statement `at`
    kUnknown,  // some lanes drop what they read; which ones is not known where it is logged
  };
  Kind kind = Kind::kAlways;
  std::size_t at = 0;  // the load, or a statement behind it in its block
  std::string text;
  bool is_guess = false;  // of those in which it holds some may drop what they read
};

class UseConditions {
 public:
  UseConditions(const Program& program, const ControlFlow& flow, const RegisterUses& uses,
                const Constants& constants)
      : program_(program),
        flow_(flow),
        uses_(uses),
        constants_(constants),
        executed_once_(flow),
        implied_(program, flow, uses, constants, executed_once_),
        values_(program, flow, uses, executed_once_) {}

  ~UseConditions() = default;
  // Its parts know where it lies.
  UseConditions(const UseConditions&) = delete;
  UseConditions& operator=(const UseConditions&) = delete;

  [[nodiscard]] UseCondition of(std::size_t load);

 private:
  // How many uses of a value are looked at, how far up guards are looked for, and how many ways to
  // a use are told apart: what bounds the cost of a load, and of its hook.
  static constexpr std::size_t kMostUses = 1024, kMostFromLoad = 1024, kMostGuards = 16;
  static constexpr std::size_t kMostLiterals = 4, kMostTerms = 16, kMostUnknown = 16;

  struct Masked {
    Literal literal;
    std::size_t statement = 0;  // where it masks
    bool is_in_turn = false;    // the path to there (ValuesAtLoad::make)
    UseTerm implied;            // what of it holds and can be had at the load

    [[nodiscard]] bool is_same(const Masked& other) const {
      return literal == other.literal && statement == other.statement;
    }
  };

  // From the load to where its value is.
  struct Path {
    UseTerm known;                  // what has let it through, by names at the load
    std::optional<Masked> unknown;  // one that cannot be had there
    bool is_in_turn = true;
    bool is_certain = false;  // something known says more than what decided long ago
  };

  struct Followed {
    std::vector<Path> paths;
    std::optional<ReachedUses> reached;
  };

  void walk(std::size_t most_literals);
  void follow(std::string_view name, std::size_t definition, const Path& path);
  void use(const RegisterUses::Use& use, std::string_view name, Path path);
  [[nodiscard]] std::optional<Literal> mask_of(const RegisterUses::Use& use) const;
  bool add_known(const Literal& literal, std::size_t user, bool is_in_turn, Path& path);
  void add_guards(std::size_t statement, Path& path);
  [[nodiscard]] bool is_full(const Path& path) const;
  void end(const Path& path);
  [[nodiscard]] bool is_from_load(std::string_view name);

  [[nodiscard]] UseCondition result();
  [[nodiscard]] bool may_be_logged_at(std::size_t statement) const;

  const Program& program_;
  const ControlFlow& flow_;
  const RegisterUses& uses_;
  const Constants& constants_;
  ExecutedOnce executed_once_;
  ImpliedLiterals implied_;
  ValuesAtLoad values_;

  // Of one load.
  std::size_t load_ = 0;
  std::uint32_t block_ = 0;  // its
  std::optional<boost::unordered_flat_set<std::string_view>> from_load_;

  // Of one walk over the uses of what it loads.
  std::size_t most_literals_ = 0;
  bool is_always_ = false, is_cut_ = false;
  bool may_wait_ = true;  // all that masks and is not known at the load is in `unknown_`
  std::size_t looked_at_ = 0;
  // Registers, and where each got what is followed.
  std::map<std::pair<std::string_view, std::size_t>, Followed> followed_;
  UseTerms terms_;
  std::vector<Masked> unknown_;
};

// Whether what comes before a statement may be logged behind it: a computation, or a weak load or
// store, orders nothing.
bool may_be_passed(const Statement& statement, const Effect& effect);

}  // namespace barracuda::ptx
