// The device's end of word_owners.h. States lie in device memory, and threads of all blocks change
// them.
#pragma once

#include <cstdint>

#include "device_logger/launch_descriptor.h"
#include "device_logger/shared_states.cuh"
#include "device_logger/unlogged_memory.h"
#include "device_logger/word_owners.h"

namespace barracuda::wire {

class WordOwners {
 public:
  __device__ __forceinline__ WordOwners(std::uint64_t descriptor, const BlockStates& block)
      : descriptor_(descriptor), block_(block) {
    asm("ld.global.nc.u64 %0, [%1];"
        : "=l"(owners_)
        : "l"(descriptor + offsetof(LaunchDescriptor, owners)));
  }

  // Of the calling thread. `value_mark` counts for stores alone.
  [[nodiscard]] __device__ __forceinline__ OwnerAccess access(std::uint32_t site,
                                                              std::uint64_t address,
                                                              std::uint32_t interval,
                                                              std::uint32_t value_mark) const {
    OwnerAccess access = owner_access(site, block_.shape().first_site, linear_thread(),
                                      linear_cta(), interval, address);
    access.value_mark = value_mark;
    return access;
  }

  // Whether an access to bytes from `offset` of the watched memory on becomes part of their states.
  // If not, some of them may have it: to make it part once more changes nothing.
  [[nodiscard]] __device__ __forceinline__ bool keep(std::uint64_t offset, std::uint32_t bytes,
                                                     const OwnerAccess& access) const {
    bool is_kept = true;
    for_each_granule(offset, bytes, [&](std::uint64_t granule) {
      is_kept = is_kept && keep_one(granule, access);
    });
    return is_kept;
  }

  // Whether it is logged. What comes before it is logged here.
  [[nodiscard]] __device__ __forceinline__ bool follow(std::uint64_t offset, std::uint32_t bytes,
                                                       std::uint64_t address,
                                                       const OwnerAccess& access,
                                                       std::uint64_t value, bool is_frozen) const {
    bool logs = false;
    for_each_granule(offset, bytes, [&](std::uint64_t granule) {
      // Of the granule, not of the access, which may begin before it.
      const std::uint64_t at = address - offset + (granule << granule_log2());
      logs = follow_one(granule, at, access, value, is_frozen) || logs;
    });
    return logs;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::uint32_t granule_log2() const {
    return block_.shape().owner_granule_log2;
  }

  template <class Visit>
  __device__ __forceinline__ void for_each_granule(std::uint64_t offset, std::uint32_t bytes,
                                                   const Visit& visit) const {
    const std::uint64_t last = (offset + bytes - 1) >> granule_log2();
#pragma unroll 1
    for (std::uint64_t granule = offset >> granule_log2(); granule <= last; ++granule) {
      visit(granule);
    }
  }

  [[nodiscard]] __device__ __forceinline__ std::uint64_t state_of(std::uint64_t granule) const {
    return owners_ + granule * kOwnerBytes;
  }

  [[nodiscard]] __device__ __forceinline__ std::uint64_t word_of(std::uint64_t granule) const {
    return owners_ - (granule + 1) * kOwnerBytes;
  }

  __device__ __forceinline__ void set_word(std::uint64_t granule, const OwnerStep& step) const {
    if (step.sets_word) {
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word_of(granule)), "l"(step.word)
                   : "memory");
    }
  }

  [[nodiscard]] __device__ __forceinline__ static std::uint64_t load(std::uint64_t place) {
    std::uint64_t bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(place) : "memory");
    return bits;
  }

  // That of this state. Who has changed the state writes it next, which may be seen later, and
  // until then it is of an older state, or of another launch. Nobody waits for long, some 20
  // microseconds: who writes it may be a lane of the same warp that runs when this one is through,
  // and what came with a state that is gone may lie over it. Then the first access stands for both.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t load_word(std::uint64_t granule,
                                                                   WordOwner state) const {
    constexpr int kMostLooks = 64;
#pragma unroll 1
    for (int look = 0; look < kMostLooks; ++look) {
      const std::uint64_t word = load(word_of(granule));
      if (state.is_word(word)) {
        return word;
      }
    }
    return state.word_instead();
  }

  // What was met there: `bits`, or it is not changed.
  [[nodiscard]] __device__ __forceinline__ static std::uint64_t change_state(std::uint64_t place,
                                                                             std::uint64_t bits,
                                                                             std::uint64_t next) {
    std::uint64_t met;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(met)
                 : "l"(place), "l"(bits), "l"(next)
                 : "memory");
    return met;
  }

  __device__ __forceinline__ bool keep_one(std::uint64_t granule, const OwnerAccess& access) const {
    const std::uint64_t place = state_of(granule);
    std::uint64_t bits = load(place);
#pragma unroll 1
    for (;;) {
      const WordOwner state(bits);
      const OwnerStep step = owner_step(state, access, [&] { return load_word(granule, state); });
      if (step.logs) {
        return false;
      }
      const std::uint64_t next = step.next.bits();
      const std::uint64_t met = next == bits ? bits : change_state(place, bits, next);
      if (met == bits) {
        set_word(granule, step);
        return true;
      }
      bits = met;
    }
  }

  __device__ __forceinline__ bool follow_one(std::uint64_t granule, std::uint64_t address,
                                             const OwnerAccess& access, std::uint64_t value,
                                             bool is_frozen) const {
    const std::uint64_t place = state_of(granule);
    std::uint64_t bits = load(place);
#pragma unroll 1
    for (;;) {
      const WordOwner state(bits);
      const auto word = [&] { return load_word(granule, state); };
      const bool is_same = has_same_value(state, access, word);
      const OwnerStep step = owner_step(state, access, word);
      const std::uint64_t next = step.next.bits();
      const std::uint64_t met = next == bits ? bits : change_state(place, bits, next);
      if (met != bits) {
        bits = met;
        continue;
      }
      set_word(granule, step);
      if (step.logs && next != bits) {
        log_kept(state, granule, address, access, {.value = is_same ? value : 0, .known = is_same},
                 is_frozen);
      }
      return step.logs;
    }
  }

  __device__ __forceinline__ void log_kept(WordOwner state, std::uint64_t granule,
                                           std::uint64_t address, const OwnerAccess& access,
                                           const UniformValue& value, bool is_frozen) const {
    const std::uint32_t count = state.count();
    const Queue queue(descriptor_);
    const std::uint64_t word = count > 1 ? load_word(granule, state) : 0;
#pragma unroll 1
    for (std::uint32_t which = 0; which < count; ++which) {
      const OwnedAccess kept = state.kept(which, word);
      const std::uint32_t site = block_.shape().first_site + kept.site;
      if (is_quiet(descriptor_, site)) {
        continue;
      }
      const bool has_left = is_frozen && block_.has_left(kept.thread);
      const bool settled = is_settled(kept, access.by, is_frozen, has_left);
      const std::uint32_t number = number_of_kept(kept, access.by, settled);
      block_.tell_warp_barriers(queue, kept.thread / kWarpLanes, number);
      write_past(queue, {.kind = settled ? RecordKind::kSettled : RecordKind::kEarlier,
                         .site = site,
                         .interval = number,
                         .thread = kept.thread,
                         .address = address >> kept.size_log2 << kept.size_log2,
                         .value = which == 0 ? value : UniformValue{},
                         .cta = queue.program_cta_of(kept.block)});
    }
  }

  std::uint64_t descriptor_, owners_;
  const BlockStates& block_;
};

}  // namespace barracuda::wire
