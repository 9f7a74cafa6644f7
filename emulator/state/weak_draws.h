// What is made weak in a launch: drawn, or as was decided before.
#pragma once

#include <array>
#include <cstdint>
#include <set>

#include "emulator/state/store_buffer.h"

namespace barracuda::emulator {

struct Launch;

class WeakDraws {
 public:
  // Both must outlive it.
  WeakDraws(const Weakness& weakness, const Launch& launch);

  // `number`: of the thread's stores or loads.
  [[nodiscard]] bool is_made_weak(WeakKind kind, const ThreadName& thread, std::uint64_t number,
                                  const WeakSite& site) const;
  [[nodiscard]] std::uint64_t hash(WeakKind kind, const ThreadName& thread,
                                   std::uint64_t number) const;
  std::uint64_t random();  // for the order of drains

 private:
  const Weakness& weakness_;
  const Launch& launch_;
  bool takes_kernel_ = true;
  std::set<std::array<std::uint64_t, 4>> decisions_;
  std::uint64_t generator_ = 0;
};

}  // namespace barracuda::emulator
