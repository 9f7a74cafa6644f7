// A kernel whose arguments are known, thread by thread: what each thread does to memory that others
// see, one step after the other. What it reads is given to it, so that whoever asks can try every
// value; everything else is computed. Of each value it is known from which reads it was made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {

// A piece of global memory that the launch has: a buffer of an argument, or a variable.
struct LiteralMemory {
  std::string name;
  std::uint64_t address = 0;
  std::uint32_t element_bytes = 4;  // of what `name[i]` counts
  std::vector<std::byte> bytes;     // at the beginning
};

struct LiteralLaunch {
  Extent grid, block;
  std::vector<std::byte> parameters;  // as parameter_layout() places them
  std::vector<LiteralMemory> memory;  // addresses below kFirstVariable, a gap behind each
  std::uint32_t dynamic_shared_bytes = 0;
  // Plain accesses that stand for strong ones where a flag is stored and polled by such, each with
  // a fence (RACE_RULES.md section 2): the fence's scope, by the line of the PTX.
  std::map<std::uint32_t, wire::Scope> flag_stores, polls;
  // How people spell the name of a variable of the PTX; none: as it is there.
  std::function<std::string(const std::string&)> spelling;
};

// Where buffer `number` of a launch lies.
constexpr std::uint64_t literal_buffer_address(std::uint32_t number) {
  return (std::uint64_t{number} + 1) << 32;
}

// Bits, and which of the thread's reads they depend on, as bits by their number.
struct LiteralValue {
  std::uint64_t bits = 0;
  std::uint64_t reads = 0;

  friend bool operator==(const LiteralValue&, const LiteralValue&) = default;
};

// What a thread does next. Reads are numbered by whoever gives their values.
struct LiteralStep {
  enum class Kind : std::uint8_t { kEnd, kLoad, kStore, kAtomic, kFence, kBarrier, kWarpBarrier };

  Kind kind = Kind::kEnd;
  std::size_t statement = 0;
  Effect effect;
  bool is_shared = false;        // the space of the address: shared, or global
  std::uint64_t address = 0;     // of the first element; in shared memory from its beginning
  std::uint32_t bytes = 0;       // of one element
  std::uint64_t depends_on = 0;  // reads that the address, and whether it is reached, depend on
  // What a store writes, element by element; the operands of an atomic.
  std::vector<LiteralValue> values;
  std::uint64_t number = 0;  // of the barrier; of a warp barrier the lanes
};

// An element of what has a name.
struct LiteralElement {
  bool is_shared = false;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

struct LiteralThread {
  std::array<std::uint32_t, 3> block{}, thread{};
  std::size_t statement = 0;  // next one
  std::vector<LiteralValue> registers;
  std::uint64_t control = 0;                    // the reads that the branches so far depended on
  std::map<std::uint64_t, LiteralValue> local;  // bytes of local memory that were written
  std::uint32_t read_branches = 0;              // how many branches depended on what was read

  // How often each branch backwards was taken where what was read decided so, by its statement.
  struct Rounds {
    std::uint32_t taken = 0, read_branches = 0;  // the latter when it was taken last
  };

  std::map<std::size_t, Rounds> rounds;
};

struct LiteralParts;  // ptx/analysis/literal_run.h

class LiteralKernel {
 public:
  // The module must outlive it. Errors: labels that are not there, parameters that do not fit.
  static Expected<LiteralKernel> create(const Module& module, const Function& entry,
                                        LiteralLaunch launch);

  LiteralKernel(LiteralKernel&&) noexcept;
  LiteralKernel& operator=(LiteralKernel&&) noexcept;
  LiteralKernel(const LiteralKernel&) = delete;
  LiteralKernel& operator=(const LiteralKernel&) = delete;
  ~LiteralKernel();

  [[nodiscard]] const LiteralLaunch& launch() const;
  // CTAs of a cluster, as the kernel's header says.
  [[nodiscard]] Extent cluster() const;
  [[nodiscard]] LiteralThread start(std::array<std::uint32_t, 3> block,
                                    std::array<std::uint32_t, 3> thread) const;

  // Runs the thread to what others see next, and past it, but for what reads: that is behind it
  // once give() was called. Errors: what this does not know, with its line.
  [[nodiscard]] Expected<LiteralStep> next(LiteralThread& thread) const;
  // The values of the elements that were read, of an atomic the one.
  void give(LiteralThread& thread, const LiteralStep& read,
            const std::vector<LiteralValue>& values) const;
  // What an atomic leaves where `old` was; the step is one that next() gave.
  [[nodiscard]] Expected<LiteralValue> updated(const LiteralStep& atomic, std::uint64_t old) const;

  // Whether the thread does anything with what it reads there.
  [[nodiscard]] bool is_used(const LiteralStep& read) const;
  // All of a thread that can still matter to what it does: equal for threads that go on alike when
  // they read the same.
  [[nodiscard]] std::vector<std::uint64_t> live_state(const LiteralThread& thread) const;

  // What the launch begins with; none: there is no memory of the launch there.
  [[nodiscard]] std::optional<std::uint64_t> initial(bool is_shared, std::uint64_t address,
                                                     std::uint32_t bytes) const;
  // "out[3]", "shared tile[4]".
  [[nodiscard]] std::string name_of(bool is_shared, std::uint64_t address,
                                    std::uint32_t bytes) const;
  // The address and size of element `index` of what is called so; none: nothing is.
  [[nodiscard]] std::optional<LiteralElement> element(std::string_view name,
                                                      std::uint64_t index) const;

  // The fence's scope of a flag store, or a poll, of the launch; none: it is neither.
  [[nodiscard]] std::optional<wire::Scope> flag_scope(const LiteralStep& step) const;
  // The line of the source where .loc gives one, else of the PTX.
  [[nodiscard]] std::uint32_t line_of(std::size_t statement) const;
  [[nodiscard]] const Instruction& instruction(std::size_t statement) const;

 private:
  explicit LiteralKernel(std::unique_ptr<LiteralParts> parts);

  std::unique_ptr<LiteralParts> parts_;
};

}  // namespace barracuda::ptx
