#include "tests/oracle/host_detector/paper_trace.h"

#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace barracuda::oracle::paper {
namespace {

using detector::LaunchId;
using detector::WorkId;
using wire::FenceScope;
using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;

constexpr std::uint64_t kGlobalBase = 0x10000;
constexpr std::uint32_t kPlaces = 2;  // of data, and as many that synchronise
constexpr std::uint32_t kSlot = 8;

struct Frame {
  std::uint32_t members = 0, other = 0;  // who goes second
  std::uint64_t meeting = 0;
  bool is_second = false;
};

struct WarpModel {
  std::uint32_t alive = 0;
  std::uint32_t path = 0;  // lanes in lockstep now
  std::vector<Frame> frames;
  bool waits = false;
};

class TraceMaker {
 public:
  explicit TraceMaker(const TraceShape& shape) : shape_(shape) {}

  Trace make() {
    begin_launch();
    for (const Choice& choice : shape_.choices) {
      step(choice);
    }
    return std::move(trace_);
  }

 private:
  // Launches come one after the other.
  void begin_launch() {
    detector::LaunchInfo info{.id = LaunchId{++launch_}};
    info.grid.x = shape_.ctas;
    info.block.x = 32 * (shape_.warps - 1) + shape_.lanes;
    if (launch_ > 1) {
      info.ordered_after.push_back(LaunchId{launch_ - 1});
    }
    if (launch_ % 2 == 0) {  // with a copy between
      detector::CopyInfo copy{.id = detector::CopyId{launch_}};
      copy.ordered_after.swap(info.ordered_after);
      copy.accesses = {{.address = kGlobalBase, .row_bytes = 64, .is_written = true}};
      trace_.steps.emplace_back(copy);
      info.ordered_after = {copy.id};
    } else if (launch_ > 1) {
      info.prerequisite = LaunchId{launch_ - 1};
      info.prerequisite_over = detector::CopyId{launch_};
    }
    trace_.steps.emplace_back(info);
    const std::uint32_t few = (std::uint32_t{1} << shape_.lanes) - 1;
    warps_.assign(std::size_t{shape_.ctas} * shape_.warps, {});
    for (std::uint32_t cta = 0; cta < shape_.ctas; ++cta) {
      for (std::uint32_t warp = 0; warp < shape_.warps; ++warp) {
        model(cta, warp) = {.alive = few, .path = few, .frames = {}};
        if (warp + 1 < shape_.warps) {  // a whole warp: most of it leaves at once
          emit(operation_of(cta, warp, ~few), {.operation = Operation::kExit});
        }
      }
    }
  }

  WarpModel& model(std::uint32_t cta, std::uint32_t warp) {
    return warps_[std::size_t{cta} * shape_.warps + warp];
  }

  [[nodiscard]] detector::WarpOperation operation_of(std::uint32_t cta, std::uint32_t warp,
                                                     std::uint32_t lanes) const {
    detector::WarpOperation operation;
    operation.kind = RecordKind::kEvent;
    operation.launch = LaunchId{launch_};
    operation.cta = cta;
    operation.warp = static_cast<std::uint8_t>(warp);
    operation.mask = lanes;
    return operation;
  }

  void emit(detector::WarpOperation operation, const wire::SiteInfo& site) {
    operation.site = wire::SiteId{static_cast<std::uint32_t>(trace_.sites.size())};
    trace_.sites.push_back(site);
    trace_.steps.emplace_back(operation);
  }

  void step(const Choice& choice) {
    const std::uint32_t cta = choice.who % shape_.ctas;
    const std::uint32_t warp = choice.who / 4 % shape_.warps;
    WarpModel& of = model(cta, warp);
    const std::uint32_t what = choice.what % 16;
    if (what == 15 && choice.how % 8 == 0 && launch_ < shape_.launches) {
      end_launch();
      begin_launch();
      return;
    }
    if (of.waits || of.alive == 0) {
      return;
    }
    if (of.path == 0) {
      go_on(of, cta, warp);
      return;
    }
    // Often all of the path, sometimes some of it: a predicated instruction.
    const std::uint32_t some = choice.lanes % 3 == 0 ? of.path & (choice.lanes >> 2) : of.path;
    detector::WarpOperation operation = operation_of(cta, warp, some == 0 ? of.path : some);
    if (what < 6) {
      access(choice, operation);
    } else if (what < 10) {
      synchronise(choice, operation);
    } else if (what < 12) {
      part(choice, of, operation);
    } else if (what < 14) {
      go_on(of, cta, warp);
    } else if (what == 14 && of.frames.empty()) {
      operation.mask = of.alive;
      of.waits = true;
      emit(operation, {.operation = Operation::kBarrier});
      open_if_complete(cta);
    } else if (what == 15 && choice.how % 8 == 1) {
      exit(of, operation);
    } else if (what == 15 && choice.how % 8 < 5) {
      emit(operation, {.operation = choice.how % 8 == 2 ? Operation::kLaunchDependents
                                                        : Operation::kGridWait});
    }
  }

  void exit(WarpModel& of, const detector::WarpOperation& operation) {
    of.alive &= ~operation.mask;
    of.path &= ~operation.mask;
    emit(operation, {.operation = Operation::kExit});
    open_if_complete(operation.cta);
  }

  void open_if_complete(std::uint32_t cta) {
    for (std::uint32_t warp = 0; warp < shape_.warps; ++warp) {
      if (model(cta, warp).alive != 0 && !model(cta, warp).waits) {
        return;
      }
    }
    for (std::uint32_t warp = 0; warp < shape_.warps; ++warp) {
      model(cta, warp).waits = false;
    }
  }

  void end_launch() {
    for (std::uint32_t cta = 0; cta < shape_.ctas; ++cta) {
      for (bool has_waiters = true; has_waiters;) {
        has_waiters = false;
        for (std::uint32_t warp = 0; warp < shape_.warps; ++warp) {
          WarpModel& of = model(cta, warp);
          while (!of.waits && of.alive != 0) {
            if (of.path != 0) {
              exit(of, operation_of(cta, warp, of.path));
            } else {
              go_on(of, cta, warp);
            }
          }
          has_waiters = has_waiters || of.waits;
        }
      }
    }
  }

  // event_count says for the reference whether those who do not take the branch go first.
  void part(const Choice& choice, WarpModel& of, detector::WarpOperation& operation) {
    operation.mask = of.path;
    const std::uint32_t taken = of.path & (choice.lanes >> 3);
    if (of.frames.size() >= 4) {
      return;
    }
    // Sometimes where the outer branch meets, as in a loop.
    const bool is_round = !of.frames.empty() && choice.where % 3 == 0;
    Frame frame{.members = of.path, .meeting = is_round ? of.frames.back().meeting : ++meetings_};
    operation.event_operand = taken;
    operation.event_count = choice.how % 2;
    const std::uint32_t first = choice.how % 2 == 0 ? taken : of.path & ~taken;
    frame.other = of.path & ~first;
    wire::SiteInfo site{.operation = Operation::kBranch};
    site.constant = frame.meeting;
    emit(operation, site);
    of.path = first;
    of.frames.push_back(frame);
  }

  // To the other path, or to where the paths meet.
  void go_on(WarpModel& of, std::uint32_t cta, std::uint32_t warp) {
    if (of.frames.empty()) {
      return;
    }
    Frame& frame = of.frames.back();
    if (!frame.is_second) {
      frame.is_second = true;
      of.path = frame.other & of.alive;
      return;
    }
    const Frame done = frame;
    of.frames.pop_back();
    of.path = done.members & of.alive;
    if (!of.frames.empty() && of.frames.back().meeting == done.meeting) {
      of.path = 0;  // they wait for the others
      return;
    }
    if (of.path != 0) {
      wire::SiteInfo site{.operation = Operation::kMeet};
      site.constant = done.meeting;
      emit(operation_of(cta, warp, of.path), site);
    }
  }

  static std::uint64_t tagged(bool shared, std::uint64_t offset) {
    return shared ? wire::tagged_address(wire::AddressSpace::kShared, offset)
                  : wire::tagged_address(wire::AddressSpace::kGlobal, kGlobalBase + offset);
  }

  static void place(const Choice& choice, const wire::SiteInfo& site, std::uint64_t first,
                    detector::WarpOperation& operation) {
    const std::uint32_t width = std::uint32_t{site.element_bytes} * site.element_count;
    const std::uint64_t start = first + choice.where / 4 % kPlaces * kSlot +
                                (width < kSlot ? choice.lanes / 8 % (kSlot / width) * width : 0);
    const std::uint32_t stride = choice.how / 64 == 0 ? 0 : choice.how / 64 == 1 ? kSlot : width;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      operation.lanes[lane].address =
          tagged(choice.where % 4 == 3, start + std::uint64_t{lane % 4} * stride);
    }
  }

  void access(const Choice& choice, detector::WarpOperation& operation) {
    constexpr std::array kOperations{Operation::kWrite, Operation::kWrite,  Operation::kRead,
                                     Operation::kRead,  Operation::kAtomic, Operation::kReduction,
                                     Operation::kRead,  Operation::kWrite};
    const std::uint32_t kind = choice.how % 8;
    wire::SiteInfo site{.operation = kOperations[kind]};
    site.element_bytes = static_cast<std::uint8_t>(std::array{1, 4, 4, 8}[choice.how / 16 % 4]);
    site.element_count = choice.where % 16 == 0 && site.element_bytes == 4 ? 2 : 1;
    site.order = kind >= 6   ? MemoryOrder::kRelaxed
                 : kind >= 4 ? MemoryOrder::kVolatile
                             : MemoryOrder::kWeak;
    operation.kind = RecordKind::kAffine;
    // One in three at a place that synchronises as well.
    place(choice, site, choice.where % 3 == 0 ? kPlaces * kSlot : 0, operation);
    operation.lanes_agree = site.operation == Operation::kWrite && choice.where % 5 == 0;
    if (kind == 4 && choice.lanes % 2 == 0) {  // of a kernel that numbers its atomics
      operation.kind = RecordKind::kRelease;
      emit(operation, site);
      operation.kind = RecordKind::kAcquire;
      trace_.steps.emplace_back(with_last_site(operation));
      return;
    }
    emit(operation, site);
  }

  [[nodiscard]] detector::WarpOperation with_last_site(detector::WarpOperation operation) const {
    operation.site = wire::SiteId{static_cast<std::uint32_t>(trace_.sites.size() - 1)};
    return operation;
  }

  void synchronise(const Choice& choice, detector::WarpOperation& operation) {
    constexpr std::array kOperations{Operation::kRead,   Operation::kWrite,  Operation::kAtomic,
                                     Operation::kAtomic, Operation::kAtomic, Operation::kReduction,
                                     Operation::kRead,   Operation::kWrite};
    const std::uint32_t kind = choice.how % 8;
    wire::SiteInfo site{.operation = kOperations[kind], .numbered = true};
    site.element_bytes = 4;
    site.element_count = 1;
    const auto scope = [&](std::uint32_t bit) {
      return (choice.where >> bit & 1) != 0 ? FenceScope::kBlock : FenceScope::kGlobal;
    };
    const bool is_cas = kind == 3;
    const bool is_exchange = kind == 4;  // sometimes one that says itself that it releases
    site.order = is_exchange && choice.lanes % 2 == 0 ? MemoryOrder::kRelease : MemoryOrder::kWeak;
    site.acquires =
        site.operation == Operation::kWrite || is_exchange ? FenceScope::kNone : scope(6);
    site.releases = site.operation == Operation::kRead || is_cas ? FenceScope::kNone : scope(5);
    place(choice, site, kPlaces * kSlot, operation);
    operation.kind =
        site.operation == Operation::kRead ? RecordKind::kAcquire : RecordKind::kRelease;
    emit(operation, site);
    if (site.operation == Operation::kAtomic) {
      operation.kind = RecordKind::kAcquire;
      trace_.steps.emplace_back(with_last_site(operation));
    }
  }

  const TraceShape& shape_;
  Trace trace_;
  std::vector<WarpModel> warps_;
  std::uint32_t launch_ = 0;
  std::uint64_t meetings_ = 0;
};

}  // namespace

Trace make_trace(const TraceShape& shape) {
  return TraceMaker(shape).make();
}

}  // namespace barracuda::oracle::paper
