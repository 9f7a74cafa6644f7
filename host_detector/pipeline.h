// Queues → detector: host threads drain the rings without ever waiting for detection, records are
// put into an order consistent with synchronisation (RACE_RULES section 4), and the detector
// applies them. Thread-safe. All addresses are host addresses of the pinned memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "host_detector/detector.h"
#include "host_detector/observer.h"

namespace barracuda::detector {

struct PipelineOptions {
  DetectorOptions detector;
  std::uint32_t drain_threads = 1;
  // Share out what is detected. With one, findings are a function of the order in which the queues
  // are read. An observer needs one, and so does the paper's model.
  std::uint32_t detector_threads = 1;
  // The sites of a race that was counted so often are logged no more, a warning's ten times as
  // often, where queues come with a table for that (0: never).
  std::uint64_t race_limit = 0;
  // Records that are read but not applied yet, and those that wait for others to be applied first:
  // beyond either the device waits.
  std::size_t max_queued_bytes = std::size_t{1} << 30;
  std::size_t max_parked_bytes = std::size_t{4} << 30;
  Observer* observer = nullptr;  // outlives the pipeline; none if null
  // Called once for each launch that still runs `late_after` after it could begin (0: never), on a
  // thread of the pipeline that holds no lock.
  std::chrono::milliseconds late_after{0};
  std::function<void(const LateLaunch&)> on_late;
  // What `late_after` is measured by. Called at each look for late launches.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  // Called once for each launch with a block whose threads all wait at barriers that cannot open
  // (Detector::find_deadlocked), as on_late is. If it is empty, such launches are not looked for.
  std::function<void(LaunchId)> on_deadlock;
  // Called, as on_late is, soon after finding_changes() has grown.
  std::function<void()> on_finding;
};

// The queues of one device context.
struct QueueSet {
  const std::byte* rings = nullptr;  // queue q at rings + q * (kSlotBytes << slots_log2)
  std::uint32_t queue_count = 0;
  std::uint32_t slots_log2 = 0;
  std::byte* read_positions = nullptr;  // u64 of queue q at + q * kReadPositionStride
  std::byte* quiet_sites = nullptr;     // wire::kQuietWords words, zeroed; null: none are quiet
};

// A part of all records, up to 1, that are of one site.
struct SiteShare {
  wire::SiteId site{};
  double share = 0;
};

struct PipelineStatistics {
  std::uint64_t records = 0, slots = 0;
  std::uint64_t rejected = 0;  // malformed: counted, makes coverage incomplete
  std::uint64_t parked_peak = 0;
  std::vector<SiteShare> busiest;  // sites with the most records, by a sample (record_sample.h)
  // Since the first queue; of this, detecting; of this, on several threads; that for all of them.
  std::chrono::nanoseconds lifetime{}, busy{}, shared{}, shared_by_threads{};
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineOptions& options);
  ~Pipeline();  // stops the threads; does not drain
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void add_queues(const QueueSet& queues);
  // No record of these queues may be written any more; what is in them is applied first.
  void remove_queues(const std::byte* rings);

  void add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites);
  void add_tensor_map(std::uint64_t number, const TensorMap& map);
  void begin_launch(const LaunchInfo& launch);
  // A copy or memset that the device was given; needs no queues.
  void begin_copy(const CopyInfo& copy);
  // Waits until every warp's exit of `launch` was applied. False on timeout.
  bool wait_for(LaunchId launch, std::chrono::milliseconds timeout);
  [[nodiscard]] bool is_over(LaunchId launch) const;
  // The launch failed or was killed: applies what is in the queues, then counts it as over.
  void end_launch(LaunchId launch);
  void forget(std::uint64_t address, std::uint64_t bytes);

  // While there is one detection begins no new round, and who asks waits for nobody, if it has
  // come: a round of a kernel with many blocks may take minutes.
  class Rest {
   public:
    Rest(const Pipeline& pipeline, std::chrono::milliseconds timeout);
    ~Rest();
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

    [[nodiscard]] bool has_come() const { return has_come_; }

   private:
    const Pipeline& pipeline_;
    bool has_come_ = false;
  };

  // The last word: an observer hears that they were read.
  [[nodiscard]] Findings findings() const;
  // While the program goes on. Does not wait for detection, which may be far behind.
  [[nodiscard]] Findings findings_so_far() const;
  // Grows with every new finding and every one that became worse. Waits for nothing.
  [[nodiscard]] std::uint64_t finding_changes() const;
  // Of records that are read and not applied yet. Waits for nothing.
  [[nodiscard]] std::size_t queued_bytes() const;
  [[nodiscard]] PipelineStatistics statistics() const;

  // In a forked child: the threads do not exist there and the findings are the parent's. Drops both
  // without joining.
  void abandon();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::detector
