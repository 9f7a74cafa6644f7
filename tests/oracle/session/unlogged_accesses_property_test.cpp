// Random programs of launches, copies, streams and events: what the engine finds without the
// accesses that stay unlogged is what the rules say of all accesses, or the filter has said that it
// missed something, and nothing is invented.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "base/strong_id.h"
#include "host_detector/detector.h"
#include "session/unlogged_accesses.h"
#include "tests/oracle/host_detector/comparison.h"
#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {
namespace {

using detector::CopyId;
using detector::LaunchId;
using detector::StreamKey;
using detector::WarpOperation;
using session::UnloggedAccesses;

struct HostChoice {
  std::uint8_t what = 0, stream = 0, event = 0, kernel = 0;
  std::vector<std::uint32_t> accesses;  // of a launch
};

// By RapidCheck, of what does not hold.
void showValue(const HostChoice& choice, std::ostream& into) {
  into << fmt::format("what {} stream {} event {} kernel {} accesses {}", choice.what,
                      choice.stream, choice.event, choice.kernel, fmt::join(choice.accesses, " "));
}

constexpr std::uint64_t kBase = 0x7000000;
constexpr std::uint64_t kArrayBytes = 32;
constexpr std::uint64_t kWord = 4;
constexpr std::uint32_t kFirstSite = 10;
// The second begins where the first ends; the others lie apart.
constexpr std::array<std::uint64_t, 4> kArrays = {kBase, kBase + kArrayBytes, kBase + 0x200,
                                                  kBase + 0x400};

// What a run of one program sees: everything, and what is left of it.
struct Traces {
  Trace all, logged;
  std::vector<std::string> problems;
  std::size_t left_out = 0;
  bool has_owned = false;  // a write was left out
};

// Plays the host and the device. Each access has a site of its own.
class Program {
 public:
  explicit Program(const std::string& filter)
      : options_(options_with(filter)),
        unlogged_(options_, allocations_, streams_, problems_, [](LaunchId) { return ""; }) {
    for (const std::uint64_t array : kArrays) {
      allocations_.add(array, kArrayBytes, "cudaMalloc");
    }
  }

  void step(const HostChoice& choice) {
    const StreamKey stream = stream_of(choice);
    const session::Handle event{1 + std::uint64_t{choice.event} % 2};
    switch (choice.what % 16) {
      case 0:
        create_stream(choice.stream % 3 == 0);
        break;
      case 1:
        streams_.event_recorded(event, stream);
        break;
      case 2:
        streams_.event_waited(stream, event);
        break;
      case 3:
        streams_.stream_synchronized(stream);
        break;
      case 4:
        choice.event % 3 == 0 ? streams_.device_synchronized() : streams_.event_synchronized(event);
        break;
      case 5:
      case 6:
        copy(choice, stream);
        break;
      case 7:
        launch(choice, stream, choice.event % 4 == 0);
        break;
      default:
        launch(choice, stream, false);
        break;
    }
  }

  Traces finish() {
    traces_.problems = problems_.sentences();
    traces_.logged.sites = traces_.all.sites;
    return std::move(traces_);
  }

 private:
  static Options options_with(const std::string& filter) {
    Options options;
    options.filter = filter;
    return options;
  }

  // Mostly the legacy stream, as in most programs.
  StreamKey stream_of(const HostChoice& choice) const {
    const std::size_t number = choice.stream / 3 % 4;
    return number == 0 || number > created_.size() ? detector::kLegacyStream : created_[number - 1];
  }

  void create_stream(bool non_blocking) {
    if (created_.size() < 3) {
      const session::Handle handle{100 + created_.size()};
      streams_.created(handle, non_blocking);
      created_.push_back(streams_.key_of(handle));
    }
  }

  template <typename Each>
  void emit(const Each& step) {
    traces_.all.steps.emplace_back(step);
    traces_.logged.steps.emplace_back(step);
  }

  void copy(const HostChoice& choice, StreamKey stream) {
    const CopyId fresh{next_copy_};
    detector::CopyOrder order = streams_.copy(stream, fresh);
    next_copy_ += order.id == fresh ? 1 : 0;
    detector::CopyInfo info{.id = order.id, .call = detector::CallId{++calls_}};
    info.ordered_after = std::move(order.ordered_after);
    info.host_waited = std::move(order.host_waited);
    info.accesses = {{.address = kArrays[choice.kernel % kArrays.size()] + choice.event % 4 * kWord,
                      .row_bytes = kWord * (1 + choice.event / 4 % 4),
                      .is_written = choice.kernel / 8 % 3 != 0}};
    unlogged_.begin(info);
    emit(info);
  }

  // A kernel of three pointers, of which it says which it writes through. Each lane of its one warp
  // reads and writes words; few writes go where it did not say. Of some kernels it is known that
  // lane t has word t of each array for itself, and few accesses are not of those.
  void launch(const HostChoice& choice, StreamKey stream, bool is_programmatic) {
    ptx::Kernel kernel{.name = "k", .parameters = {{0, 8}, {8, 8}, {16, 8}}};
    kernel.writes.is_known = choice.kernel % 16 != 0;
    kernel.writes.variables = choice.kernel % 16 == 1;
    std::vector<std::byte> arguments(24);
    std::array<std::uint64_t, 3> arrays{}, offsets{};
    for (std::uint32_t i = 0; i < arrays.size(); ++i) {
      arrays[i] = kArrays[(choice.kernel >> (2 * i)) % kArrays.size()];
      // Sometimes a pointer to an end, which is counted down.
      const std::uint64_t pointer = arrays[i] + (choice.event % 16 == i ? kArrayBytes : 0);
      offsets[i] = arrays[i] - pointer;
      std::memcpy(arguments.data() + std::size_t{8} * i, &pointer, sizeof pointer);
    }
    const std::uint32_t written = choice.event / 16 % 3;  // the first so many
    for (std::uint32_t i = 0; i < written; ++i) {
      kernel.writes.arguments.push_back({.parameter = i});
    }
    const bool has_owners = choice.event / 2 % 3 != 0;
    kernel.accesses = accesses_of(has_owners, choice.kernel % 16 != 0, offsets);
    const LaunchId id{++launches_};
    detector::LaunchInfo info{.id = id, .grid = {1}, .block = {32}, .ordered_after = {}};
    if (is_programmatic) {
      auto order = streams_.launch_programmatic(stream, id, CopyId{next_copy_});
      info.ordered_after = std::move(order.ordered_after);
      info.prerequisite = order.prerequisite;
      info.prerequisite_over = order.prerequisite_over;
      next_copy_ += order.prerequisite == LaunchId{} ? 0 : 1;
    } else {
      info.ordered_after = streams_.launch(stream, id);
    }
    UnloggedAccesses::LeftOut left_out = unlogged_.begin({.id = id,
                                                          .stream = stream,
                                                          .kernel = kernel,
                                                          .arguments = std::move(arguments),
                                                          .is_programmatic = is_programmatic,
                                                          .grid = info.grid,
                                                          .block = info.block});
    emit(info);
    for (const std::uint32_t access : choice.accesses) {
      // Who leaves nothing out, and writes where it did not say, is seen by nobody (LIMITATIONS).
      const bool is_stray = access % 64 == 0 && left_out.memory.count != 0;
      const bool is_write = access % 4 == 0 && (written != 0 || is_stray);
      const std::uint32_t argument =
          is_write && !is_stray ? access / 64 % written : access / 64 % 3;
      const std::uint32_t lane = access / 2048 % 3;
      const bool is_own = has_owners && access / 32 % 16 != 0;
      perform(id,
              {.is_write = is_write,
               .address = arrays[argument] + (is_own ? lane : access / 256 % 8) * kWord,
               .lane = lane,
               .site = is_own ? kFirstSite + argument : 0},
              left_out);
    }
    event(id, {.operation = wire::Operation::kExit}, 0xFFFFFFFF);
    unlogged_.end(id, left_out.memory);
  }

  // One for each argument: 4 bytes at the pointer, its offset and 4 * tid.x.
  static ptx::GlobalAccesses accesses_of(bool has_forms, bool are_known,
                                         const std::array<std::uint64_t, 3>& offsets) {
    using enum ptx::AddressOp;
    ptx::GlobalAccesses accesses{.are_known = are_known};
    accesses.nodes = {{.op = kThread, .bytes = 4},
                      {.op = kWiden, .bytes = 8, .first = 0, .second = 0},
                      {.op = kConstant, .bytes = 8, .value = kWord},
                      {.op = kMultiply, .bytes = 8, .first = 1, .second = 2}};
    for (std::uint32_t i = 0; i < 3; ++i) {
      const auto pointer = static_cast<std::uint32_t>(accesses.nodes.size());
      accesses.nodes.push_back({.op = kArgument, .bytes = 8, .word = {.parameter = i}});
      accesses.nodes.push_back({.op = kAdd, .bytes = 8, .first = 3, .second = pointer});
      accesses.nodes.push_back({.op = kConstant, .bytes = 8, .value = offsets[i]});
      accesses.nodes.push_back(
          {.op = kAdd, .bytes = 8, .first = pointer + 1, .second = pointer + 2});
      accesses.accesses.push_back(
          {.leads = {.is_known = are_known, .arguments = {{.parameter = i}}},
           .form = has_forms ? std::optional(pointer + 3) : std::nullopt,
           .bytes = kWord,
           .first_site = kFirstSite + i,
           .sites = 1});
    }
    return accesses;
  }

  void event(LaunchId id, const wire::SiteInfo& site, std::uint32_t mask) {
    WarpOperation operation;
    operation.kind = wire::RecordKind::kEvent;
    operation.launch = id;
    operation.mask = mask;
    operation.site = add_site(site);
    emit(operation);
  }

  wire::SiteId add_site(const wire::SiteInfo& site) {
    traces_.all.sites.push_back(site);
    return wire::SiteId{static_cast<std::uint32_t>(traces_.all.sites.size() - 1)};
  }

  struct Access {
    bool is_write = false;
    std::uint64_t address = 0;
    std::uint32_t lane = 0;
    std::uint32_t site = 0;  // of the kernel's
  };

  // As the logger would judge it.
  void perform(LaunchId id, const Access& access, UnloggedAccesses::LeftOut& left_out) {
    WarpOperation operation;
    operation.kind = wire::RecordKind::kScattered;
    operation.launch = id;
    operation.mask = std::uint32_t{1} << access.lane;
    operation.lanes[access.lane].address =
        wire::tagged_address(wire::AddressSpace::kGlobal, access.address);
    operation.site =
        add_site({.operation = access.is_write ? wire::Operation::kWrite : wire::Operation::kRead,
                  .element_bytes = kWord,
                  .element_count = 1});
    wire::UnloggedMemory& memory = left_out.memory;
    const auto is_owner = [&](std::uint32_t range) {
      return wire::is_owner([&](std::uint32_t i) { return left_out.sites.ranges[i]; },
                            left_out.sites.first, access.site, range);
    };
    const auto judged =
        wire::judge_unlogged([&](std::uint32_t i) { return memory.ranges[i]; }, is_owner,
                             {.count = memory.count, .owned = memory.owned}, kWord, access.address,
                             access.is_write ? wire::AccessUse::kWrite : wire::AccessUse::kRead)
            .decision;
    memory.written |= judged == wire::LogDecision::kWrites ? 1 : 0;
    traces_.all.steps.emplace_back(operation);
    if (judged == wire::LogDecision::kLeftOut) {
      ++traces_.left_out;
      traces_.has_owned = traces_.has_owned || access.is_write;
    } else {
      traces_.logged.steps.emplace_back(operation);
    }
  }

  Options options_;
  session::AllocationTable allocations_;
  session::StreamTracker streams_;
  session::Problems problems_;
  UnloggedAccesses unlogged_;
  std::vector<StreamKey> created_;
  Traces traces_;
  std::uint32_t launches_ = 0, next_copy_ = 1, calls_ = 0;
};

detector::Findings find(const Trace& trace) {
  const auto engine = detector::make_detector();
  engine->add_sites(wire::SiteId{0}, trace.sites);
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      engine->begin_launch(*launch);
    } else if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
      engine->apply_copy(*copy);
    } else {
      engine->apply(std::get<WarpOperation>(step));
    }
  }
  RC_ASSERT(engine->rejected() == 0U);
  return engine->findings();
}

void compare(const std::string& filter, const std::vector<HostChoice>& choices) {
  Program program(filter);
  for (const HostChoice& choice : choices) {
    program.step(choice);
  }
  const Traces traces = program.finish();
  const std::vector<Race> races = races_of(traces.all, {});
  const auto wrong = difference(races, find(traces.logged));
  const bool has_said_so = !traces.problems.empty();
  RC_ASSERT(filter != "off" || (traces.left_out == 0U && !has_said_so));
  if (wrong && !(has_said_so && wrong->starts_with("missed"))) {
    RC_FAIL(fmt::format("{} ({} problems)\n{}\nlogged:\n{}", *wrong, traces.problems.size(),
                        describe(traces.all), describe(traces.logged)));
  }
  RC_CLASSIFY(traces.left_out != 0, "leaves accesses out");
  RC_CLASSIFY(traces.has_owned, "… writes as well");
  RC_CLASSIFY(traces.left_out != 0 && !races.empty() && !has_said_so, "… and has races");
  RC_CLASSIFY(has_said_so, "gave up");
  RC_CLASSIFY(has_said_so && !wrong, "… though it missed nothing");
}

rc::Gen<std::vector<HostChoice>> programs() {
  const auto small = [] { return rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>()); };
  const auto access = [] { return rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>()); };
  return rc::gen::container<std::vector<HostChoice>>(rc::gen::build<HostChoice>(
      rc::gen::set(&HostChoice::what, small()), rc::gen::set(&HostChoice::stream, small()),
      rc::gen::set(&HostChoice::event, small()), rc::gen::set(&HostChoice::kernel, small()),
      rc::gen::set(&HostChoice::accesses,
                   rc::gen::scale(0.2, rc::gen::container<std::vector<std::uint32_t>>(access())))));
}

}  // namespace
}  // namespace barracuda::oracle

TEST_CASE(
    "without the accesses that stay unlogged the races of the rules are found, or it is said") {
  using namespace barracuda;
  CHECK(rc::check("filter=auto", [] { oracle::compare("auto", *oracle::programs()); }));
  CHECK(rc::check("filter=on", [] { oracle::compare("on", *oracle::programs()); }));
}

TEST_CASE("with filter=off nothing stays unlogged") {
  using namespace barracuda;
  CHECK(rc::check("filter=off", [] { oracle::compare("off", *oracle::programs()); }));
}
