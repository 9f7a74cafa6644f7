// Compiled programs that share nothing without order end with the right results, rewritten.
#include <numeric>
#include <string>
#include <vector>

#include "base/file.h"
#include "delaying_device.h"

namespace barracuda::wire::test {
namespace {

std::string programs() {
  auto text = read_file(BARRACUDA_DELAYED_PROGRAMS);
  REQUIRE(text);
  return *text;
}

// Runs `check` on a device of each setting.
template <class Check>
void with_all_settings(const Check& check) {
  for (const double probability : {1.0, 0.5}) {
    for (const std::uint32_t capacity : {32U, 1U}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        INFO("probability " << probability << " capacity " << capacity << " seed " << seed);
        DelayingDevice device(programs(), {.probability = probability,
                                           .capacity = capacity,
                                           .seed = seed,
                                           .blocks = 4,
                                           .threads = 128});
        check(device);
      }
    }
  }
}

std::vector<int> read(std::uint64_t address, std::size_t count) {
  const int* const first = DelayingDevice::at<const int>(address);
  return {first, first + count};
}

void fill(std::uint64_t address, int count) {
  std::iota(DelayingDevice::at<int>(address), DelayingDevice::at<int>(address) + count, 0);
}

}  // namespace

TEST_CASE("rewritten: a lock keeps its counters") {
  with_all_settings([](DelayingDevice& device) {
    const std::uint64_t words = device.allocate(64);
    device.launch("lock_counter", 3, 40, {words, words + 4, words + 8});
    CHECK(read(words, 3) == std::vector{0, 120, 120});
  });
}

TEST_CASE("rewritten: loops that wait end, and what they waited for is there") {
  with_all_settings([](DelayingDevice& device) {
    const std::uint64_t words = device.allocate(64), out = device.allocate(4 * 3 * 40);
    device.launch("spin", 3, 40, {words, words + 4, out});
    CHECK(read(out, 120) == std::vector(120, 42));
  });
}

TEST_CASE("rewritten: a lane that is polled for between barriers is seen") {
  with_all_settings([](DelayingDevice& device) {
    const std::uint64_t flags = device.allocate(64), out = device.allocate(4 * 128);
    device.launch("spin_between_barriers", 1, 128, {flags, flags, out});
    const std::vector<int> seen = read(out, 128);
    for (int i = 0; i < 128; ++i) {
      CHECK(seen[i] == 127 - (i / 32 * 32 + 5));
    }
  });
}

TEST_CASE("rewritten: barriers carry shared and global memory, also behind divergent lanes") {
  with_all_settings([](DelayingDevice& device) {
    const std::uint64_t in = device.allocate(4 * 256), out = device.allocate(4 * 256);
    fill(in, 256);
    device.launch("reduce", 2, 128, {in, out});
    CHECK(read(out, 2) == std::vector{127 * 64, 127 * 64 + 128 * 128});
    device.launch("exchange", 2, 128, {in, out});
    std::vector<int> values(256), first(256), expected(256), changed(256);
    for (int i = 0; i < 256; ++i) {
      const int odd = i % 2;
      values[i] = i + 1 + odd;
      changed[i] = odd != 0 ? -1 : i;
    }
    for (int i = 0; i < 256; ++i) {
      const int local = i % 128;
      first[i] = values[i - local + 127 - local] + (local % 3 == 0 ? changed[i ^ 1] : 0);
    }
    for (int i = 0; i < 256; ++i) {
      expected[i] = first[i ^ 4];
    }
    CHECK(read(out, 256) == expected);
  });
}

TEST_CASE("rewritten: who comes last finds what all others left, also from called functions") {
  with_all_settings([](DelayingDevice& device) {
    const std::uint64_t parts = device.allocate(64), words = device.allocate(64);
    device.launch("last_block", 4, 64, {parts, words, words + 4});
    CHECK(read(words, 2) == std::vector{4, 10});
  });
}

}  // namespace barracuda::wire::test
