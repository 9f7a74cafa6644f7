// Cluster barriers, mbarriers, asynchronous copies, their waits and the proxy fence (RACE_RULES
// section 1). Records are taken in the order of their queue; one that cannot be is refused.
#pragma once

#include <cstdint>

#include "host_detector/races/access_check.h"
#include "host_detector/state/engine_state.h"
#include "host_detector/tensor_maps.h"

namespace barracuda::detector {

// The methods that answer say false where an operand cannot be; the other lanes are done.
class AsyncCopyRules {
 public:
  AsyncCopyRules(EngineState& engine, AccessCheck& accesses)
      : engine_(engine), accesses_(accesses) {}

  static void cluster_barrier(const Actor& actor, std::uint32_t lanes, const wire::SiteInfo& site);
  static void fence_proxy(const Actor& actor, std::uint32_t lanes);
  // What the copies that the lanes make next read of their maps.
  static void note_maps(const Actor& actor, const WarpOperation& operation);
  static bool commit(const Actor& actor, std::uint32_t lanes, const wire::SiteInfo& site);
  static bool wait(const Actor& actor, std::uint32_t groups, std::uint32_t lanes,
                   const wire::SiteInfo& site);
  // All operations on mbarriers but copies.
  bool mbarrier(const Actor& actor, const WarpOperation& operation);
  bool copy(const Actor& actor, const WarpOperation& operation);
  // By a map that is not known it is named in the log, and no more is known of it.
  bool tensor_copy(const Actor& actor, const WarpOperation& operation);
  // wgmma: what the warp reads of shared memory; tcgen05: what each lane does.
  bool matrix_product(const Actor& actor, const WarpOperation& operation);

 private:
  // Lanes that do the same to one mbarrier.
  struct Operand {
    const wire::SiteInfo& site;
    std::uint32_t lanes;
    const LaneAccess& access;  // of the first
    Mbarrier& mbarrier;
    bool is_remote;  // of another CTA
  };

  // One copy as its completions see it.
  struct Transfer {
    std::uint64_t target = 0, source = 0;  // tagged; wire::kNoOperand: from nowhere
    std::uint32_t bytes = 0;
    PackedCompletion write_completion, read_completion;
    Time time = 0;
    std::uint16_t byte_mask = 0xFFFF;
    const TensorBox* box = nullptr;  // of a tensor: one end is its rows, the other its pieces
    bool reads_map = false;          // and its map lies in memory
  };

  static void wait_for_matrices(const Actor& actor, std::uint32_t groups, std::uint32_t lanes);
  bool alike(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes);
  static bool act(const Actor& actor, const Operand& operand);
  static bool arrive(const Actor& actor, const Operand& operand);
  static void give(const Actor& actor, const Operand& operand, std::uint32_t lanes);
  // When what the lanes have issued before is made: cp.async, or tcgen05, which gives with it what
  // its thread knows.
  static bool arrive_asynchronously(const Actor& actor, const Operand& operand);
  static void take(const Actor& actor, const Operand& operand);
  bool copy_to_mbarrier(const Actor& actor, const WarpOperation& operation, std::uint32_t lane,
                        Transfer transfer, std::uint64_t mbarrier);
  bool tensor_product(const Actor& actor, const WarpOperation& operation);
  bool multicast(const Actor& actor, const WarpOperation& operation, std::uint32_t lane,
                 const Transfer& transfer);
  // Its completion is the lane's bulk group.
  static void in_group(const Actor& actor, std::uint32_t lane, Transfer& transfer);
  bool transfer_box(const Actor& actor, const WarpOperation& operation, std::uint32_t lane,
                    const Transfer& transfer);
  bool transfer(const Actor& actor, const WarpOperation& operation, std::uint32_t lane,
                const Transfer& transfer);
  // With the copy, which says by what it is over.
  bool read_map(const Actor& actor, const WarpOperation& operation, std::uint32_t lane,
                const PackedCompletion& completion, Time time);
  // st.bulk, tensormap.replace: the thread itself stores it, or copies it.
  bool store(const Actor& actor, const WarpOperation& operation, std::uint32_t lane);

  EngineState& engine_;
  AccessCheck& accesses_;
};

}  // namespace barracuda::detector
