// A small program for the memory models: a few threads of accesses, fences, barriers, arithmetic
// and jumps. Values are whole locations; there are no mixed sizes. The names are the litmus test's
// (litmus_test.h): here everything has a number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_logger/site_info.h"

namespace barracuda::memory_model {

using wire::Scope;

inline constexpr std::size_t kMostThreads = 16;
inline constexpr std::size_t kMostLocations = 32;

// Volatile is kRelaxed with Scope::kSys (PTX ISA 8.4.1).
enum class Order : std::uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };

// The path by which an access reaches memory (PTX ISA, "Proxies"). kAlias is of fences only:
// between two addresses of one location.
enum class Proxy : std::uint8_t { kGeneric, kSurface, kTexture, kConstant, kAlias };

// A constant, or what a register of the thread holds.
struct Operand {
  std::uint64_t constant = 0;
  std::optional<std::uint32_t> read;  // number of the thread's register

  friend bool operator==(const Operand&, const Operand&) = default;
};

// kMove takes the operand as it is: `atom.exch`, and the move of a register.
enum class Operation : std::uint8_t { kMove, kAdd, kSub, kMul, kDiv, kAnd, kOr, kXor };
enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kGreaterEqual,
  kLessEqual,
  kGreater,
  kLess
};

// What one operation makes of two values, as signed numbers that wrap; a quotient by zero is zero.
std::uint64_t compute(Operation operation, std::uint64_t left, std::uint64_t right);
bool compare(Comparison comparison, std::uint64_t left, std::uint64_t right);

struct Instruction {
  // kUpdate: memory := operation(memory, value). kCompareExchange: memory := value if it was
  // `second`. kCompute: target := operation(value, second). kJump: to `destination` if
  // comparison(value, second).
  enum class Kind : std::uint8_t {
    kLoad,
    kStore,
    kUpdate,
    kCompareExchange,
    kFence,
    kProxyFence,
    kBarrier,
    kCompute,
    kJump
  };

  Kind kind = Kind::kLoad;
  Order order = Order::kWeak;  // of a fence: kAcquire, kRelease, kAcqRel or kSc
  Scope scope = Scope::kSys;   // of what is not weak
  std::uint32_t location = 0;
  // The name by which the location is reached: aliases have their own. `generic`: the address in
  // the generic proxy that this one stands for.
  std::uint32_t address = 0, generic = 0;
  Proxy proxy = Proxy::kGeneric;
  // Register of the thread that gets what was read; none: `red`.
  std::optional<std::uint32_t> target;
  Operand value, second;
  Operation operation = Operation::kMove;
  Comparison comparison = Comparison::kEqual;
  std::uint32_t destination = 0;  // number of an instruction of the thread, or how many there are
  // Barriers (Dat3M's form). Events of one instance and CTA synchronise; without one, the n-th
  // barrier of each thread is instance n. `number`: only those of the same number do. `quorum`: how
  // many of them open it. Without both it opens when each that the CTA has was reached.
  std::optional<std::uint32_t> instance;
  std::optional<Operand> number, quorum;
  bool waits = true;  // not: bar.arrive
  // Of what a kernel writes: registers that it depends on besides its operands, since a kernel's
  // arithmetic is done when it is read (kernel_reader.h).
  std::vector<std::uint32_t> depends_on;
  // Of a jump: it only tells values of a read apart, and nothing depends on it. Backwards it stands
  // for a way that needs no exploring: a value that is never read, a pass that changes nothing.
  bool is_case = false;
  bool is_spin =
      false;  // of a case backwards: such a pass, so that the thread may go round for ever
  std::uint32_t line = 0;  // of the file

  [[nodiscard]] bool updates() const {
    return kind == Kind::kUpdate || kind == Kind::kCompareExchange;
  }

  [[nodiscard]] bool reads() const { return kind == Kind::kLoad || updates(); }

  [[nodiscard]] bool writes() const { return kind == Kind::kStore || updates(); }

  [[nodiscard]] bool accesses() const { return reads() || writes(); }

  // Whether it reads or sets that register.
  [[nodiscard]] bool uses(std::uint32_t reg) const {
    return target == reg || value.read == reg || second.read == reg ||
           std::ranges::find(depends_on, reg) != depends_on.end();
  }

  // Wherever it stands in the file.
  [[nodiscard]] bool does_the_same_as(Instruction other) const {
    other.line = line;
    return *this == other;
  }

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct Thread {
  std::uint32_t cta = 0, cluster = 0, gpu = 0;
  std::uint32_t registers = 0;
  std::vector<Instruction> instructions;
  std::vector<std::uint64_t> initial;  // of the first registers; the others hold zero

  // Whether a scope of this thread's includes the other.
  [[nodiscard]] bool includes(Scope scope, const Thread& other) const {
    switch (scope) {
      case Scope::kCta:
        return cta == other.cta && cluster == other.cluster && gpu == other.gpu;
      case Scope::kCluster:
        return cluster == other.cluster && gpu == other.gpu;
      case Scope::kGpu:
        return gpu == other.gpu;
      case Scope::kSys:
        break;
    }
    return true;
  }
};

struct Location {
  std::uint64_t initial = 0;
  bool is_shared = false;  // of one CTA; only its threads have instructions on it
};

struct Program {
  std::uint32_t locations = 0;
  std::vector<Thread> threads;
  std::vector<Location> about;  // of the first locations; the others are global zeros

  [[nodiscard]] Location location(std::size_t number) const {
    return number < about.size() ? about[number] : Location();
  }
};

// By location: whether all that write it are morally strong with each other, so that nothing comes
// between what an atomic reads and what it writes.
std::vector<bool> strongly_written(const Program& program);

// Whether another thread has an access that conflicts with this one of thread `one`, and the two
// are not morally strong: they race unless causality orders them.
bool may_race(const Program& program, const Thread& one, const Instruction& access);

// Threads of one CTA that do the same from the same registers, in groups of two or more.
std::vector<std::vector<std::size_t>> identical_threads(const Program& program);

// The registers of all threads, one after the other, at the end.
using Outcome = std::vector<std::uint64_t>;

// Where the registers of each thread begin in an Outcome, and behind the last one their number.
std::vector<std::size_t> first_registers(const Program& program);
Outcome initial_registers(const Program& program);

// How a program ends.
struct Final {
  Outcome registers;
  std::vector<std::uint64_t> memory;  // by location; empty where the model has no one memory

  friend auto operator<=>(const Final&, const Final&) = default;
};

}  // namespace barracuda::memory_model
