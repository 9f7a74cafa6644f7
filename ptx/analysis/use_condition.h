// In which lanes what a load puts into a register reaches anything: those in which a select takes
// it, a predicate that it is combined with lets it through, a mask is not zero, or a branch leads
// to code that reads it. Compilers load for all lanes what the source reads in some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

// What decides: a predicate, or a number that is not zero.
struct Literal {
  std::string_view name;
  bool is_negated = false;
  std::uint32_t number_bits = 0;  // 0: a predicate

  friend bool operator==(const Literal&, const Literal&) = default;
};

struct UseCondition {
  enum class Kind : std::uint8_t {
    kAlways,   // or nothing is known
    kKnown,    // `text` puts it into %__barracuda_u, at statement `at`
    kUnknown,  // some lanes drop what they read; which ones is not known where it is logged
  };
  Kind kind = Kind::kAlways;
  std::size_t at = 0;  // the load, or a statement behind it in its block
  std::string text;
};

class UseConditions {
 public:
  UseConditions(const Program& program, const ControlFlow& flow, const RegisterUses& uses,
                const Constants& constants)
      : program_(program), flow_(flow), uses_(uses), constants_(constants) {}

  [[nodiscard]] UseCondition of(std::size_t load);

 private:
  // How many uses of a value are looked at, how far up guards are looked for, and how many
  // instructions are made again: what bounds the cost of a load, and of its hook.
  static constexpr std::size_t kMostUses = 64, kMostGuards = 16, kMostClones = 8, kMostLiterals = 4;
  static constexpr int kMostImplied = 8;

  struct Masked {
    Literal literal;
    std::size_t statement = 0;  // where it masks
    bool is_known = false;      // at the load
  };

  void follow(std::string_view name, std::size_t definition);
  void use(const RegisterUses::Use& use, std::string_view name);
  [[nodiscard]] std::optional<Literal> mask_of(const RegisterUses::Use& use) const;
  [[nodiscard]] std::optional<Literal> guard_of(std::size_t statement);
  [[nodiscard]] std::optional<Literal> edge_into(std::uint32_t block) const;
  using Implied = std::vector<std::pair<Literal, std::size_t>>;

  [[nodiscard]] Implied implied_by(const Literal& literal, std::size_t user, int depth) const;
  [[nodiscard]] std::optional<Literal> make_one(const Literal& literal, std::size_t user,
                                                bool is_behind_load);
  [[nodiscard]] bool is_from_load(std::string_view name);
  void add(const Masked& masked);

  // Whether the value that a register has at `user` can be had at the load.
  [[nodiscard]] bool make(std::string_view name, std::size_t user, bool is_behind_load);
  [[nodiscard]] bool clone(std::size_t definition, bool is_behind_load);
  void drop_clones(std::size_t count, std::size_t text_size);
  [[nodiscard]] bool holds_from_load(std::size_t definition, bool is_behind_load);
  [[nodiscard]] bool is_invariant(std::size_t definition, int depth = 0);
  [[nodiscard]] bool is_executed_once(std::size_t statement);
  [[nodiscard]] bool comes_before(std::size_t statement, std::size_t other) const;

  [[nodiscard]] UseCondition result();
  [[nodiscard]] bool may_be_logged_at(std::size_t statement) const;
  [[nodiscard]] std::string write(bool at_load) const;
  [[nodiscard]] std::string_view name_at_load(std::string_view name) const;

  const Program& program_;
  const ControlFlow& flow_;
  const RegisterUses& uses_;
  const Constants& constants_;
  boost::unordered_flat_map<std::uint32_t, bool> in_cycle_;  // by block

  // Of one load.
  std::size_t load_ = 0;
  std::uint32_t block_ = 0;  // its
  bool is_always_ = false;
  // All that the value went through is written in one place, which comes before what reads it.
  bool is_static_ = true;
  bool needs_static_ = false;
  std::size_t looked_at_ = 0;
  // Registers, and where each got what is followed.
  boost::unordered_flat_set<std::pair<std::string_view, std::size_t>> followed_;
  std::optional<boost::unordered_flat_set<std::string_view>> from_load_;
  boost::container::small_vector<Masked, kMostLiterals> masked_;
  std::string clones_;
  std::vector<std::string_view> clone_order_;  // the names that clones stand for
  boost::unordered_flat_map<std::string_view, std::string> cloned_;  // by that name
};

// Whether what comes before a statement may be logged behind it: a computation, or a weak load or
// store, orders nothing.
bool may_be_passed(const Statement& statement, const Effect& effect);

}  // namespace barracuda::ptx
