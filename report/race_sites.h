// The instructions of one race, as the sentence about it needs them: what they are, and how they
// stand to each other in the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host_detector/race_event.h"
#include "ptx/site_table.h"

namespace barracuda::report {

class RaceSites {
 public:
  RaceSites(const detector::RaceEvent& race, const ptx::SiteTable& sites)
      : race_(race), sites_(sites) {}

  // Null of a call of the host's, too.
  [[nodiscard]] const ptx::Site* find(detector::AccessSite at) const;
  // What the missing order is about; null if that is an access, or is not known.
  [[nodiscard]] const ptx::Site* about() const;
  // The site if it is a fence whose scope leaves one of the threads out.
  [[nodiscard]] const ptx::Site* narrow_fence(const wire::SiteId* id) const;

  [[nodiscard]] bool is_update(detector::AccessSite id) const;
  // Both change several places by what these hold: no atomic operation does that.
  [[nodiscard]] bool are_exchanges() const;
  // An atomic operation, or as good as one: a relaxed, acquire or release access, or a volatile
  // load that its loop, or who calls its function, may wait for.
  [[nodiscard]] bool is_strong(detector::AccessSite id) const;
  [[nodiscard]] bool is_product(detector::AccessSite id) const;
  // A copy to shared memory that completes on an mbarrier.
  [[nodiscard]] bool is_load_of_shared(const detector::RaceAccess& access) const;
  [[nodiscard]] bool is_flag(detector::AccessSite id) const;

  // A read in a loop, of a kernel that synchronises by such values: maybe it waits for the other.
  [[nodiscard]] bool may_be_awaited() const;
  // By lanes of a warp, and neither in a loop: they look at each other's data once, as the last
  // steps of a sum do.
  [[nodiscard]] bool are_steps_of_warp() const;
  // Of one statement of the source, as copies of an unrolled loop are.
  [[nodiscard]] bool are_one_statement() const;
  // One statement reads and writes, and no two calls of its function are what races.
  [[nodiscard]] bool is_within_statement() const;
  // One of the two updates bytes in place of which the other one stores a part: bit fields that
  // share a word, where the compiler writes back the others with the one that is meant.
  [[nodiscard]] bool is_update_around_store() const;
  // A grid.sync() stands in the function of the second access.
  [[nodiscard]] bool has_grid_barrier() const;
  // Of one function, which is called twice: maybe by itself.
  [[nodiscard]] bool are_of_two_calls() const;
  // An arrival at an mbarrier that waits for copies of its thread stands in the function of the
  // first access.
  [[nodiscard]] bool has_arrival_of_copies() const;
  // In the text of one function the read comes before the write, or before the atomic.
  [[nodiscard]] bool is_read_first() const;
  // One is an asynchronous copy that its own thread waits for, the other comes behind it in the
  // text.
  [[nodiscard]] bool use_a_copy() const;
  // The plain store of a flag that has no fence before it, read in a loop that has one behind it;
  // with both the pair would be no race (RACE_RULES section 2).
  [[nodiscard]] const ptx::Site* unfenced_flag() const;
  // In the text before the access, a loop that waits for a flag and has a fence behind it.
  [[nodiscard]] const ptx::Site* poll_before(const detector::RaceAccess& access) const;
  // The compare-and-swap of a loop before the access, in the text, of a place that is written
  // behind it: a lock that is taken and given back.
  [[nodiscard]] const ptx::Site* lock_around(const detector::RaceAccess& access) const;

  // Behind the first access an arrival at an mbarrier of another block of the cluster, and the wait
  // for one that the second thread did last.
  struct RemoteArrival {
    const ptx::Site* arrival = nullptr;
    const ptx::Site* wait = nullptr;
  };

  [[nodiscard]] std::optional<RemoteArrival> remote_arrival() const;
  // An arrival, by the second thread as the last thing before its access, at a barrier of CUDA's
  // libraries.
  [[nodiscard]] const ptx::Site* library_arrival() const;

 private:
  // Of an update of several places, which reads each of them.
  [[nodiscard]] bool is_exchange(const ptx::Site& part) const;
  [[nodiscard]] bool uses_result(detector::AccessSite copy, detector::AccessSite use) const;

  const detector::RaceEvent& race_;
  const ptx::SiteTable& sites_;
};

// " at add.cu:12", the innermost line that the program's author wrote; empty without one.
std::string place_at(const ptx::Site& site);

// Of a barrier that CUDA's libraries make of accesses to memory, a grid's or a cuda::barrier, and
// there in a function whose name has `function`.
bool is_of_library_barrier(const ptx::Site& site, std::string_view function = {});

}  // namespace barracuda::report
