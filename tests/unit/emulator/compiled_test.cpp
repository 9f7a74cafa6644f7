// Kernels compiled by nvcc, for several targets and without optimisation.
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::shape;

namespace {

std::string compiled(const std::string& target) {
  std::ifstream file(std::string(KERNELS_FOLDER) + "/kernels_" + target + ".ptx");
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Item {
  int number;
  double weight;
  char tag[20];
};

int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

}  // namespace

TEST_CASE("compiled kernels compute what the host computes") {
  const std::string target = GENERATE("75", "90", "100", "90_debug");
  CAPTURE(target);
  Device device(compiled(target));

  SECTION("vector addition with constant memory") {
    std::vector<float> a(1000), b(1000);
    std::iota(a.begin(), a.end(), 0.5F);
    std::iota(b.begin(), b.end(), -300.25F);
    const auto in_a = device.buffer(a), in_b = device.buffer(b),
               out = device.buffer(std::vector<float>(1000));
    device.run_well("vector_add", shape({8}, {128}), in_a, in_b, out, 1000);
    const auto c = device.read<float>(out, 1000);
    for (std::size_t i = 0; i < 1000; ++i) {
      REQUIRE(c[i] == std::fma(b[i], static_cast<float>(1 << (i % 4)), a[i]));
    }
  }
  SECTION("a reduction in dynamic shared memory") {
    std::vector<int> values(5000);
    std::iota(values.begin(), values.end(), -1000);
    const auto in = device.buffer(values), out = device.buffer(std::vector<int>(1, 0));
    device.run_well("block_sum", shape({7}, {256}, 1024), in, out, 5000);
    REQUIRE(device.read<int>(out, 1)[0] == std::accumulate(values.begin(), values.end(), 0));
  }
  SECTION("structures by value, pointers to functions, recursion, local arrays") {
    const auto out = device.buffer(std::vector<int>(100));
    device.run_well("functions", shape({1}, {100}), out, Item{5, 2.5, {}}, 3);
    const auto values = device.read<int>(out, 100);
    for (int i = 0; i < 100; ++i) {
      const int called = i % 2 == 0 ? 2 * i : i * i;
      REQUIRE(values[static_cast<std::size_t>(i)] == called + fibonacci(i % 10) + 5 + i +
                                                         static_cast<signed char>(i) +
                                                         (i * 7 % 16) * 3 + 5);
    }
  }
  SECTION("a cooperative grid") {
    const int n = 12 * 64, rounds = 5;
    std::vector<int> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    const auto data = device.buffer(expected);
    LaunchConfig config = shape({12}, {64});
    config.cooperative = true;
    device.run_well("grid_phases", config, data, rounds);
    for (int round = 0; round < rounds; ++round) {
      std::vector<int> next(n);
      for (int i = 0; i < n; ++i) {
        next[static_cast<std::size_t>(i)] =
            expected[static_cast<std::size_t>((i + n / 2 + 1) % n)] + 1;
      }
      expected = next;
    }
    REQUIRE(device.read<int>(data, n) == expected);
  }
  SECTION("tiles and coalesced groups") {
    const auto out = device.buffer(std::vector<int>(64));
    device.run_well("tiles", shape({1}, {64}), out);
    const auto values = device.read<int>(out, 64);
    for (int i = 0; i < 64; ++i) {
      const int first = i / 8 * 8, sum = 8 * first + 28;
      int most = i / 32 * 32 + (i % 2 == 0 ? 30 : 31);
      most += i % 3 == 0 ? (i < 32 ? 11 : 11) : 0;
      REQUIRE(values[static_cast<std::size_t>(i)] == sum * 100 + most);
    }
  }
  SECTION("a hand-over between blocks, and a spin lock within warps") {
    const auto cells = device.buffer(std::vector<int>(6, 0));
    device.run_well("hand_over", shape({2}, {1}), cells, cells + 4, cells + 8);
    REQUIRE(device.read<int>(cells, 3)[2] == 42);
    device.run_well("spin_lock", shape({5}, {96}), cells + 12, cells + 16);
    REQUIRE(device.read<int>(cells, 5)[4] == 480);
  }
  SECTION("the heap") {
    const auto out = device.buffer(std::vector<int>(64));
    const std::uint64_t used = device.machine().memory().used_bytes();
    device.run_well("heap", shape({1}, {64}), out);
    const auto values = device.read<int>(out, 64);
    for (int i = 0; i < 64; ++i) {
      REQUIRE(values[static_cast<std::size_t>(i)] == 2 * i + 3);
    }
    REQUIRE(device.machine().memory().used_bytes() == used);
  }
  SECTION("the mathematical library") {
    std::vector<double> in(64);
    for (std::size_t i = 0; i < 64; ++i) {
      in[i] = 0.37 * static_cast<double>(i);
    }
    const auto x = device.buffer(in), out = device.buffer(std::vector<double>(64)),
               single = device.buffer(std::vector<float>(64));
    device.run_well("mathematics", shape({1}, {64}), x, out, single);
    const auto doubles = device.read<double>(out, 64);
    const auto floats = device.read<float>(single, 64);
    for (std::size_t i = 0; i < 64; ++i) {
      const double v = in[i];
      const double d = std::sin(v) + std::exp(-v) * std::sqrt(v) + std::log(v + 1) +
                       std::pow(v, 1.5) + std::atan2(v, 2.0);
      const double s = std::sin(v) + std::exp(-v) * std::sqrt(v) + std::log(v + 1) +
                       std::pow(v, 1.5) + std::tanh(v);
      REQUIRE(doubles[i] == Approx(d).epsilon(1e-13));
      REQUIRE(floats[i] == Approx(s).epsilon(1e-5));
    }
  }
  SECTION("assertions") {
    device.run_well("asserting", shape({1}, {32}), 40);
    const DeviceError error = device.run("asserting", shape({2}, {32}), 30);
    REQUIRE(error.code == DeviceErrorCode::kAssert);
    REQUIRE(error.thread.x == 30);
    const std::string said = "Assertion `static_cast<int>(threadIdx.x) < n` failed.";
    REQUIRE(error.what.find("thread: [30,0,0] " + said) == error.what.size() - said.size() - 17);
    REQUIRE(error.message.find("thread: [30,0,0] " + said + "\n") != std::string::npos);
    REQUIRE(error.message.find("thread: [31,0,0] " + said) != std::string::npos);
    REQUIRE(error.message.find("kernels.cu:") != std::string::npos);
  }
}

TEST_CASE("what kernels print arrives in order when the launch has ended") {
  std::string printed;
  MachineOptions options;
  options.print = [&printed](std::string_view text) { printed += text; };
  Device device(compiled("90"), options);
  device.run_well("talk", shape({1}, {32}), 3);
  REQUIRE(printed ==
          "thread 0 of talk:  0.00 a 1099511627776 %\n"
          "thread 1 of talk:  0.50 b 2199023255552 %\n"
          "thread 2 of talk:  1.00 c 4398046511104 %\n");
}
