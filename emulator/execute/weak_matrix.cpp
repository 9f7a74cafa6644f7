#include "emulator/execute/weak_matrix.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "emulator/execute/matrix.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/host_address.h"
#include "emulator/state/launch.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

namespace {

struct Touched {
  std::uint64_t granule = 0;
  Granule before{};
  int lane = 0;  // one that touches it
};

WeakThread& thread_of(const Context& c, int lane) {
  return (*c.warp->weak)[static_cast<std::size_t>(lane)];
}

// The lane that has the register and the one that has said where: either may have stored there.
template <class Visit>
void for_each_lane(const MatrixPart& part, Visit visit) {
  visit(part.lane);
  if (part.addressed_by != part.lane) {
    visit(part.addressed_by);
  }
}

void settle(const Context& c, const WeakSite& site, const std::vector<MatrixPart>& parts) {
  for (const MatrixPart& part : parts) {
    for_each_lane(part, [&](int lane) {
      const WeakThread& thread = thread_of(c, lane);
      c.weak->settle(thread, part.address, part.bytes, WeakEnd::kSettle);
      c.weak->note_access_of(thread, thread_name(c, lane), site, part.address, part.bytes,
                             !site.is_write);
    });
  }
}

std::vector<Touched> touched_by(const std::vector<MatrixPart>& parts) {
  std::vector<Touched> touched;
  for (const MatrixPart& part : parts) {
    const std::uint64_t granule = granule_of(part.address);
    if (std::ranges::find(touched, granule, &Touched::granule) == touched.end()) {
      Touched& added = touched.emplace_back(granule);
      added.lane = part.lane;
      std::memcpy(added.before.data(), host_address<const std::byte>(granule * kGranuleBytes),
                  kGranuleBytes);
    }
  }
  return touched;
}

void note(const Context& c, const WeakSite& site, const std::vector<MatrixPart>& parts,
          const std::vector<Touched>& touched) {
  for (const Touched& granule : touched) {
    if (site.is_write) {
      c.weak->note_change(thread_name(c, granule.lane), granule.granule, granule.before);
    }
  }
  for (const MatrixPart& part : parts) {
    for_each_lane(part, [&](int lane) {
      thread_of(c, lane).note_access(granule_of(part.address), c.weak->moment());
    });
  }
}

}  // namespace

Step execute_weak_matrix(Context& c, const Instruction& in, std::uint32_t mask) {
  const WeakSite& site = *in.weak;
  if ((c.warp->live & ~mask) != 0) {
    return site.plain(c, in, mask);  // it waits for the other lanes
  }
  std::vector<MatrixPart> parts;
  if (!find_parts(c, in, site.plain, mask, parts)) {
    return Step::kSwitch;
  }
  settle(c, site, parts);
  const bool keeps = c.weak->keeps_history();
  const std::vector<Touched> touched = keeps ? touched_by(parts) : std::vector<Touched>();
  const Step step = site.plain(c, in, mask);
  if (keeps) {
    note(c, site, parts, touched);
  }
  c.weak->release_seen();
  return step;
}

}  // namespace barracuda::emulator
