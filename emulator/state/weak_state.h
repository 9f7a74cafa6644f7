// The weak memory of one launch: which stores wait where, and when they go to memory.
// One host thread executes such a launch.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "emulator/state/commit_history.h"
#include "emulator/state/store_buffer.h"
#include "emulator/state/weak_draws.h"
#include "emulator/state/weak_recorder.h"
#include "emulator/state/weak_steering.h"
#include "emulator/state/weak_thread.h"

namespace barracuda::emulator {

struct Cta;
struct Launch;

class WeakState {
 public:
  // Both must outlive it.
  WeakState(const Weakness& weakness, Launch& launch);
  ~WeakState() = default;
  WeakState(const WeakState&) = delete;
  WeakState& operator=(const WeakState&) = delete;
  WeakState(WeakState&&) = delete;
  WeakState& operator=(WeakState&&) = delete;

  [[nodiscard]] const Weakness& weakness() const { return weakness_; }

  WeakDraws draws;
  WeakRecorder log;

  // --- time ---

  [[nodiscard]] std::uint64_t moment() const { return moment_; }

  [[nodiscard]] bool keeps_history() const { return keeps_history_; }

  CommitHistory history;
  std::uint64_t turn = 0;

  // --- stores ---

  PendingStores pending;
  WeakSteering steering{pending, turn};

  void delay(PendingStore store, WeakThread& thread);
  // To memory, with all that must come before it.
  void commit(StoreId id, WeakEnd end);
  // From a thread's buffer to its block's, with all that must come before it; to memory where there
  // is no block's or the bytes are its own block's.
  void publish(StoreId id, WeakEnd end);
  // What the thread sees at these bytes, wherever it waits, goes to memory.
  void settle(const WeakThread& thread, std::uint64_t address, std::uint64_t bytes, WeakEnd end);
  // Everything that waits there, of any thread.
  void settle_all(std::uint64_t begin, std::uint64_t end, WeakEnd reason);
  // The same, without a trace in memory, which goes.
  void drop(std::uint64_t begin, std::uint64_t end, WeakEnd reason);
  // A store of at most a granule that is not delayed.
  void write(WeakThread& thread, const ThreadName& name, std::uint64_t address,
             std::span<const std::byte> bytes);
  // An atomic operation has changed memory; for the history.
  void note_change(const ThreadName& name, std::uint64_t granule, const Granule& before);
  // What they read from now on is nothing older.
  void reset_windows(WeakLanes& lanes, std::uint32_t mask) const;
  // Threads of a warp exit.
  void exit(const WeakLanes& lanes, std::uint32_t mask);
  // The threads of a block have yet to run; all have exited; its shared memory goes.
  void start_block(Cta& cta);
  void leave_block(Cta& cta);
  void end_block(Cta& cta);

  // `bytes`, which are those of memory, as the thread sees them: of what its block's buffer holds
  // only what was there at that moment.
  void overlay(const WeakThread& thread, std::uint64_t granule, std::uint64_t moment,
               Granule& bytes);

  // False: global memory that the kernel has freed meanwhile.
  [[nodiscard]] bool is_in_memory(std::uint64_t address) const;

  // --- what others do ---

  // The thread accesses these bytes of one granule: stores of others that wait there are passed by.
  void note_access_of(const WeakThread& thread, const ThreadName& name, const WeakSite& site,
                      std::uint64_t address, std::uint32_t bytes, bool reads);
  // Held stores that have been passed by are held no longer.
  void release_seen();

  // --- progress ---

  void drain_aged();
  void drain_all(bool strong_only, WeakEnd end);
  void end_launch(bool failed);

 private:
  using Aged = std::pair<StoreId, std::uint64_t>;  // and its serial
  using Aging = std::deque<Aged>;

  void take_over(StoreBuffer& buffer);
  void change(std::uint64_t address, std::span<const std::byte> bytes, const Commit& commit);
  void finish(StoreId id, WeakEnd end);
  void drain_aged(Aging& aging, std::uint64_t age);
  void commit_oldest();
  [[nodiscard]] bool is_alive(const Aged& aged);

  const Weakness& weakness_;
  Launch& launch_;
  bool keeps_history_ = false;
  std::uint64_t moment_ = 1;
  std::uint64_t serial_ = 0;
  std::uint64_t releases_ = 0;  // of memory, when the launch began
  Aging strong_, weak_;
  StoreBuffer ended_;  // what blocks that ended have left
  std::vector<StoreId> seen_;
};

}  // namespace barracuda::emulator
