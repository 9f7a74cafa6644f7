// The launches that log and are not over: the descriptor that each has, and the log area of each
// context; and waiting for them. Thread-safe, but for what says that the lock is held; drain(),
// check_arrived() and make_room() may wait.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/options.h"
#include "host_detector/pipeline.h"
#include "session/allocation_table.h"
#include "session/device_area.h"
#include "session/launch_request.h"
#include "session/launch_watch.h"
#include "session/module_registry.h"
#include "session/problems.h"
#include "session/run_books.h"
#include "session/stream_tracker.h"
#include "session/unlogged_accesses.h"

namespace barracuda::session {

class LaunchesInFlight {
 public:
  struct InFlight {
    detector::LaunchId id{};
    Handle context{};
    DeviceArea* area = nullptr;
    wire::LaunchDescriptor* descriptor = nullptr;
  };

  LaunchesInFlight(const Options& options, DeviceDriver& driver, detector::Pipeline& pipeline,
                   StreamTracker& streams, const AllocationTable& allocations, RunBooks& books,
                   Problems& problems);

  // Held by who puts work into a stream until the detector knows of it: both have one order. Taken
  // before that of the books.
  [[nodiscard]] std::mutex& mutex() const { return mutex_; }

  // Makes what launches of this context log into, unless it is there: a first kernel would take
  // tens of milliseconds longer.
  void prepare(Handle context);
  // Waits for detection where so many more launches would be too many. Holds nothing meanwhile.
  void make_room(std::size_t launches);

  // Why nothing is checked any more; empty: it is. The lock is held.
  [[nodiscard]] const std::string& closed() const { return closed_; }

  // A new launch, with its descriptor; null with `reason` set if there is none. Valid until the
  // next is added, while the lock is held.
  const InFlight* add(const KernelBinding& kernel, const detector::LaunchInfo& info, Handle context,
                      std::string& reason);

  // What launches and copies need not log. The lock is held.
  [[nodiscard]] UnloggedAccesses& unlogged() { return unlogged_; }

  // What a launch needs besides its descriptor.
  struct LeftOut {
    std::array<wire::UnloggedRange, wire::kShortcuts> shortcuts{};  // of its hidden argument
    std::uint32_t own_shared_end = 0;  // of what its blocks keep behind the program's; 0: nothing
  };

  // Tells the descriptor what the launch, which has its place in the order, need not log, and gives
  // it memory for states. `stream_key`: launches of one use the same memory, one after the other.
  // The lock is held.
  LeftOut leave_out(const InFlight& taken, const LaunchRequest& request,
                    const UnloggedAccesses::BegunLaunch& launch,
                    const UnloggedAccesses::LeftOut& left_out, detector::StreamKey stream_key);

  // Whether launches of the kernel's guarded form were what it is for, so far. The lock is held.
  [[nodiscard]] bool may_be_guarded(const ptx::Kernel& kernel) const;
  // The launch is of the guarded form of its kernel. What that gets for a descriptor's address. The
  // lock is held.
  std::uint64_t add_guarded(const InFlight& taken, const ptx::Kernel& kernel);

  // It will log nothing more.
  void end(detector::LaunchId id);
  // The device has finished all work of this context: waits until its records are checked. If the
  // work failed, force-ends its launches.
  void drain(Handle context, bool failed);
  // Checks what has arrived, without the device; for a process that is being killed. True if no
  // launch is under way and all that were are checked to their ends.
  bool check_arrived(std::chrono::milliseconds timeout);
  // After check_arrived(): of a context whose kernel died the oldest launch that did not log its
  // end, which in one stream is the one that died; where there is none, the guarded form that
  // strayed, or the only one. None: it is not known.
  [[nodiscard]] WatchedLaunch first_unfinished(Handle context);
  // No launch will ever end: force-ends all, so that it is reported which threads wait.
  void give_up_all();
  // The contexts that have a log area.
  [[nodiscard]] std::vector<Handle> contexts() const;
  // After drain(): the context is about to go, and its area's memory with it.
  void close_context(Handle context);
  // Launches from now on run unchecked, for this reason.
  void close(const std::string& reason);

 private:
  // Lets the program have its signals between two slices of a wait, while nothing is held.
  bool wait_a_slice(detector::LaunchId id, std::chrono::milliseconds slice);
  void wait_for(detector::LaunchId id);
  DeviceArea* area_of(Handle context);
  // Nothing while another thread has the lock: it may never leave.
  std::optional<std::vector<detector::LaunchId>> try_in_flight();
  void reap(bool thoroughly);
  // What is in flight has an area and a descriptor, and stands in the order of the launches.
  [[nodiscard]] bool is_valid() const;
  // From the oldest one in flight to the next to be opened.
  [[nodiscard]] std::size_t span_in_flight() const;
  // Gives its descriptor back.
  void release(const InFlight& launch);
  // The newest launch of the kernel whose guarded form noted an access outside of its ranges;
  // nothing if none did since the last call.
  std::optional<WatchedLaunch> look_for_strays(DeviceArea& area);

  const Options& options_;
  DeviceDriver& driver_;
  detector::Pipeline& pipeline_;
  RunBooks& books_;
  Problems& problems_;
  mutable std::mutex mutex_;                             // of what follows
  std::map<Handle, std::unique_ptr<DeviceArea>> areas_;  // null: no memory for one
  std::deque<InFlight> in_flight_;
  UnloggedAccesses unlogged_;
  // Of guarded forms since the device was last waited for: by the first site of the kernel, the
  // newest.
  std::map<wire::SiteId, WatchedLaunch> guarded_;
  std::set<wire::SiteId> strayed_;   // ever, by the first site as well
  detector::LaunchId in_the_way_{};  // the oldest, for which it was waited in vain
  std::uint64_t begun_ = 0;
  std::string closed_;
};

}  // namespace barracuda::session
