#include "tests/unit/trace/sample.h"

#include <array>
#include <cstring>

#include <catch2/catch.hpp>

#include "device_logger/record.h"
#include "trace/event_fields.h"
#include "trace/writer.h"

namespace barracuda::trace {
namespace {

// A codec that fills in what another one would read.
class Filler {
 public:
  Filler(std::mt19937_64& random, std::vector<std::byte>& record)
      : random_(random), record_(record) {}

  template <typename... Fields>
  void operator()(Fields&&... fields) {
    (fill(fields), ...);
  }

 private:
  std::uint64_t number() {
    const std::uint64_t drawn = random_();
    return drawn >> (random_() % 64);
  }

  template <typename Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
  void fill(Number& value) {
    value = static_cast<Number>(number());
  }

  void fill(bool& value) { value = random_() % 2 == 0; }

  template <typename Enum>
  void fill(Choice<Enum>& choice) {
    choice.value = static_cast<Enum>(random_() % (static_cast<std::uint64_t>(choice.last) + 1));
  }

  void fill(std::string& text) {
    text.resize(random_() % 40);
    for (char& letter : text) {
      letter = static_cast<char>(random_());
    }
  }

  void fill(std::span<const std::byte>& bytes) {
    record_.resize(random_() % 2100);
    for (std::byte& byte : record_) {
      byte = static_cast<std::byte>(random_());
    }
    bytes = record_;
  }

  template <typename Element>
  void fill(std::vector<Element>& elements) {
    elements.resize(random_() % 5);
    for (Element& element : elements) {
      fill(element);
    }
  }

  template <typename Value>
  void fill(std::optional<Value>& value) {
    value.reset();
    if (random_() % 2 == 0) {
      fill(value.emplace());
    }
  }

  template <typename Struct>
    requires(std::is_class_v<Struct>)
  void fill(Struct& value) {
    travel(*this, value);
  }

  std::mt19937_64& random_;
  std::vector<std::byte>& record_;
};

template <std::size_t kIndex = 0>
void emplace(Event& event, std::size_t index) {
  if constexpr (kIndex < std::variant_size_v<Event>) {
    if (index == kIndex) {
      event.emplace<kIndex>();
    } else {
      emplace<kIndex + 1>(event, index);
    }
  }
}

ptx::Site make_site(std::uint32_t id, wire::Operation operation, std::uint8_t bytes) {
  ptx::Site site;
  site.id = wire::SiteId{id};
  site.info.operation = operation;
  site.info.element_bytes = bytes;
  site.info.element_count = bytes == 0 ? 0 : 1;
  site.function = "_Z4writePi";
  site.in_entry = true;
  site.instruction = "st.global.u32";
  site.ptx_line = 10 + id;
  site.variable = "p";
  site.frames.push_back({.function = "", .file = "app.cu", .line = 20 + id, .column = 3});
  return site;
}

// A record of one lane: an access to address 0x1000, or an event.
std::vector<std::byte> make_record(std::uint32_t site, wire::RecordKind kind, std::uint32_t warp,
                                   std::uint32_t mask) {
  std::vector<std::byte> bytes(wire::kSlotBytes);
  wire::HeaderHalf header{};
  header.tag = 1;
  header.launch = 1;
  header.site = site & 0xffffff;
  header.kind = static_cast<std::uint32_t>(kind) & 0xf;
  header.width_log2 = 5;
  header.mask = mask;
  wire::PatternHalf pattern{};
  pattern.tag = 1;
  pattern.base_low = kind == wire::RecordKind::kAffine ? 0x1000 : 0;
  pattern.warp = warp & 0x1f;
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + wire::kHalfBytes, &pattern, sizeof pattern);
  return bytes;
}

}  // namespace

Event RandomEvents::next() {
  Event event;
  emplace(event, random_() % std::variant_size_v<Event>);
  Filler filler(random_, record_);
  std::visit([&filler](auto& kind) { filler(kind); }, event);
  return event;
}

std::vector<std::byte> encoded(const Event& event) {
  std::vector<std::byte> bytes;
  std::visit([&bytes](const auto& kind) { encode(kind, bytes); }, event);
  return bytes;
}

std::vector<Event> race_events() {
  constexpr std::uint32_t kWrite = 0;
  constexpr std::uint32_t kExit = 1;
  static const auto kRecords = std::to_array<std::vector<std::byte>>({
      make_record(kWrite, wire::RecordKind::kAffine, 0, 1),
      make_record(kWrite, wire::RecordKind::kAffine, 1, 1),
      make_record(kExit, wire::RecordKind::kEvent, 0, ~0U),
      make_record(kExit, wire::RecordKind::kEvent, 1, ~0U),
  });
  constexpr detector::LaunchId kLaunch{1};
  const detector::Dim3 block{.x = 64, .y = 1, .z = 1};
  std::vector<Event> events = {
      StreamBegin{.tool_version = "0",
                  .protocol = wire::kProtocolVersion,
                  .process = kProcess,
                  .program = "app",
                  .rank = 3,
                  .options = {.text = "print-limit=7", .suppressions = {}}},
      DeviceNamed{"a device"},
      SiteDescribed{make_site(kWrite, wire::Operation::kWrite, 4)},
      SiteDescribed{make_site(kExit, wire::Operation::kExit, 0)},
      SitesAdded{.first = {}, .count = 2},
      KernelNamed{"_Z4writePi"},
      LaunchDescribed{.id = kLaunch,
                      .kernel = 0,
                      .stream = 3,
                      .grid = {},
                      .block = block,
                      .stack = 1,
                      .logger_bytes = 32},
      LaunchBegun{{.id = kLaunch, .grid = {}, .block = block, .cluster = {}, .ordered_after = {}}}};
  for (const std::vector<std::byte>& record : kRecords) {
    events.emplace_back(RecordApplied{.launch = kLaunch, .record = record});
  }
  events.emplace_back(PlaceNamed{.stack = 1, .kernel = 0, .place = "main() at app.cu:42"});
  return events;
}

RunEnd race_end() {
  RunEnd end;
  end.launch_count = 1;
  end.device = "a device";
  end.used_cuda = true;
  return end;
}

void write_trace(const std::string& path, const std::vector<Event>& events,
                 std::size_t events_in_block) {
  auto file = TraceFile::open(path, Ownership::kAlone);
  REQUIRE(file);
  Writer writer(std::move(*file), new_stream());
  std::size_t count = 0;
  for (const Event& event : events) {
    std::visit([&writer](const auto& kind) { writer.put(kind); }, event);
    if (++count == events_in_block) {
      writer.flush();
      count = 0;
    }
  }
  writer.flush();
  REQUIRE_FALSE(writer.error());
}

}  // namespace barracuda::trace
