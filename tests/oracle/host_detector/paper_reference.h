// The rules of model=paper, transcribed from Figures 2 and 3 of BARRACUDA (PLDI 2017) as directly
// as they can be: full vector clocks, one thread at a time, one rule at a time. The engine is held
// against it; nothing here is shared with it but the formats of its input.
//
// Its traces are feasible ones, in which a path of a branch runs to its end before the next begins.
// ELSE is not recorded: it comes when lanes act that are not on top of the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "host_detector/detector.h"
#include "tests/oracle/host_detector/work_number.h"

namespace barracuda::oracle::paper {

using Thread = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t,
                          std::uint32_t>;  // launch, block, warp, lane
using VectorClock = std::map<Thread, std::uint64_t>;
using Space = std::optional<std::pair<std::uint32_t, std::uint32_t>>;  // shared memory: of a block
using Location = std::pair<Space, std::uint64_t>;                      // a byte

struct Race {
  std::uint32_t low_site = 0, high_site = 0;
  detector::RaceKind kind{};
  Location location;
  friend auto operator<=>(const Race&, const Race&) = default;
};

class Reference {
 public:
  explicit Reference(const std::vector<wire::SiteInfo>& sites) : sites_(sites) {}

  void begin_launch(const detector::LaunchInfo& launch);
  // Held against nothing: it only has a place among the launches.
  void apply(const detector::CopyInfo& copy);
  void apply(const detector::WarpOperation& operation);

  [[nodiscard]] const std::set<Race>& races() const { return races_; }

 private:
  using Warp = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  using Block = std::pair<std::uint32_t, std::uint32_t>;

  struct Epoch {  // and which instruction it was of
    Thread thread;
    std::uint64_t time = 0;
    std::size_t instruction = 0;
    std::uint32_t site = 0;
    bool agrees = false;
  };

  struct Memory {
    std::optional<Epoch> write;  // W, of the last plain one
    std::vector<Epoch> atomics;  // since that: each of them may race (PLDI 2017, section 3.2)
    std::vector<Epoch> reads;    // R: an epoch, or a vector clock
    std::vector<Epoch> relaxed_reads;
  };

  // The trace operations.
  void rd(const Epoch& epoch, const Location& x, bool is_relaxed);
  void wr(const Epoch& epoch, const Location& x);
  void atm(const Epoch& epoch, const Location& x);
  void acq(const Thread& t, const Location& x, wire::FenceScope scope);
  void rel(const Thread& t, const Location& x, wire::FenceScope scope, bool adds);
  void endi(const Warp& w);
  void branch(const Warp& w, std::uint32_t first, std::uint32_t second);
  void pop(const Warp& w);
  void bar(const Block& b);

  void access(const detector::WarpOperation& operation, const Thread& t);
  void synchronise(const detector::WarpOperation& operation, const Thread& t);
  void event(const detector::WarpOperation& operation, const Warp& w);
  void open_barrier_if_complete(const Block& b);
  [[nodiscard]] bool precedes(const Epoch& earlier, const Thread& t) const;
  void report(const Epoch& earlier, const Epoch& later, const Location& x);
  [[nodiscard]] std::set<Thread> active(const Warp& w) const;
  void join_and_fork(const std::set<Thread>& threads);
  [[nodiscard]] std::vector<Location> bytes_of(const detector::WarpOperation& operation,
                                               const Thread& t) const;

  const std::vector<wire::SiteInfo>& sites_;
  std::map<Warp, std::vector<std::uint32_t>> stacks_;          // K
  std::map<Thread, VectorClock> clocks_;                       // C
  std::map<Location, std::map<Block, VectorClock>> released_;  // S
  std::map<Location, Memory> memory_;                          // R, W
  std::map<std::uint32_t, VectorClock> beginnings_, ends_;     // of launches
  std::set<std::uint32_t> let_begin_;               // launches that let their dependents begin
  std::map<std::uint32_t, std::uint32_t> awaited_;  // by griddepcontrol.wait of a launch
  std::set<Thread> alive_, waiting_;
  // What is released for all blocks is for those of launches as well that begin later and are not
  // ordered after it.
  static constexpr Block kLaterBlocks{0, 0};
  std::set<Block> blocks_{kLaterBlocks};
  std::set<Race> races_;
  std::size_t instruction_ = 0;
};

}  // namespace barracuda::oracle::paper
