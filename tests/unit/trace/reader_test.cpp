#include "trace/reader.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace/sample.h"

namespace barracuda::trace {
namespace {

using Catch::Contains;

std::string sample_trace() {
  const ScratchFolder folder;
  std::vector<Event> events = race_events();
  events.emplace_back(race_end());
  write_trace(folder / "trace", events, 2);
  return read_file(folder / "trace").value();
}

struct Reading {
  bool is_trace = false;
  bool tells_damage = false;
  std::vector<std::vector<std::byte>> events;
};

Reading read(const std::string& bytes) {
  Reading reading;
  const auto reader = Reader::of_bytes(std::as_bytes(std::span(bytes)));
  if (!reader) {
    CHECK_FALSE(reader.error().message.empty());
    return reading;
  }
  reading.is_trace = true;
  reading.tells_damage = !reader->damages().empty();
  for (const Stream& stream : reader->streams()) {
    const auto take = [&reading](const Event& event) {
      reading.events.push_back(encoded(event));
      return true;
    };
    const auto visited = reader->visit(stream, take, {});
    reading.tells_damage = reading.tells_damage || !visited;
  }
  return reading;
}

bool is_prefix(const Reading& part, const Reading& whole) {
  return part.events.size() <= whole.events.size() &&
         std::equal(part.events.begin(), part.events.end(), whole.events.begin());
}

TEST_CASE(
    "a trace that is cut anywhere is read up to its last whole block, and says where it ends") {
  const std::string trace = sample_trace();
  const Reading whole = read(trace);
  REQUIRE_FALSE(whole.tells_damage);
  REQUIRE(whole.events.size() == race_events().size() + 1);
  const auto reader = Reader::of_bytes(std::as_bytes(std::span(trace)));
  std::vector<std::size_t> ends = {0};
  for (const Stream::Place& place : reader->streams().front().blocks) {
    ends.push_back(place.offset + sizeof(BlockHeader) + place.header.stored_bytes);
  }
  for (std::size_t length = 0; length < trace.size(); ++length) {
    const Reading part = read(trace.substr(0, length));
    const auto blocks = static_cast<std::size_t>(
        std::ranges::count_if(ends, [length](std::size_t end) { return end <= length; }));
    const bool at_boundary = std::ranges::find(ends, length) != ends.end();
    CHECK(part.is_trace == (blocks > 1));
    CHECK(part.events.size() == (blocks - 1) * 2);
    CHECK(is_prefix(part, whole));
    CHECK(part.tells_damage == (part.is_trace && !at_boundary));
  }
}

TEST_CASE("a byte that is changed anywhere is told, and nothing behind it is believed") {
  const std::string trace = sample_trace();
  const Reading whole = read(trace);
  std::mt19937 random(1);
  for (std::size_t at = 0; at < trace.size(); ++at) {
    std::string damaged = trace;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
    const Reading part = read(damaged);
    CHECK((!part.is_trace || part.tells_damage));
    // Without its first block, a stream has none.
    CHECK(is_prefix(part, whole));
  }
}

TEST_CASE("blocks of other processes behind a damaged one are found") {
  const ScratchFolder folder;
  write_trace(folder / "one", race_events(), 0);
  write_trace(folder / "two", race_events(), 0);
  const std::string one = read_file(folder / "one").value();
  const std::string two = read_file(folder / "two").value();
  const std::string mixed = one.substr(0, one.size() - 5) + two;
  const auto reader = Reader::of_bytes(std::as_bytes(std::span(mixed)));
  REQUIRE(reader);
  // The first one's header promises five bytes of the second's.
  CHECK((reader->streams().size() == 2 || !reader->damages().empty()));
  const std::string apart = one.substr(0, 20) + two;
  const auto rest = Reader::of_bytes(std::as_bytes(std::span(apart)));
  REQUIRE(rest);
  CHECK(rest->streams().size() == 1);
  REQUIRE(rest->damages().size() == 1);
  CHECK_THAT(rest->damages().front(), Contains("at byte 0: 20 bytes"));
}

TEST_CASE("what is no trace is told apart from a damaged one") {
  const auto message = [](const std::string& bytes) {
    const auto reader = Reader::of_bytes(std::as_bytes(std::span(bytes)));
    REQUIRE_FALSE(reader);
    return reader.error().message;
  };
  CHECK_THAT(message(""), Contains("empty"));
  CHECK_THAT(message("\x7f"
                     "ELF and so on, long enough for a header to be looked for in it"),
             Contains("not a trace"));
  std::string other = sample_trace().substr(0, 60);
  const std::uint32_t version = kFormatVersion + 1;
  std::memcpy(other.data() + sizeof kMagic, &version, sizeof version);
  CHECK_THAT(message(other), Contains("version " + std::to_string(version) +
                                      " of the format; this command reads version " +
                                      std::to_string(kFormatVersion)));
  CHECK_THAT(message(sample_trace().substr(0, 60)), Contains("not one whole block"));
  CHECK_FALSE(Reader::open("/tmp"));
  CHECK_FALSE(Reader::open("/does/not/exist"));
}

TEST_CASE("a header cannot promise more than a block may hold") {
  std::string trace = sample_trace();
  BlockHeader header;
  std::memcpy(&header, trace.data(), sizeof header);
  header.raw_bytes = ~0U;
  std::memcpy(trace.data(), &header, sizeof header);
  CHECK_FALSE(read_header(std::as_bytes(std::span(trace))));
  const std::vector<std::byte> block = make_block(1, 0, {});
  const auto good = read_header(block);
  REQUIRE(good);
  BlockHeader larger = *good;
  larger.raw_bytes = 1000;
  CHECK_FALSE(read_events(larger, std::span(block).subspan(sizeof(BlockHeader))));
}

}  // namespace
}  // namespace barracuda::trace
