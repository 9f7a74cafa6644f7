#include "weak_memory/stress_parameters.h"

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

using stress::StressKind;

StressPoint point(std::uint64_t mp, std::uint64_t lb, std::uint64_t sb) {
  return {.weak = {mp, lb, sb}, .runs = 1000};
}

std::string error_of(const std::string& text) {
  const auto read = parse_stress_parameters(text, "a.stress");
  REQUIRE(!read);
  return read.error().to_string();
}

// A GPU that is lost with the first launch.
class FakeDevice : public LitmusDevice {
 public:
  [[nodiscard]] std::string name() const override { return "GPU 1/2"; }

  [[nodiscard]] std::string driver_version() const override { return "13000"; }

 private:
  Expected<void> load(const std::string& /*ptx*/) override { return {}; }

  [[nodiscard]] std::uint32_t blocks() const override { return 4; }

  Expected<void> launch(LitmusJob& /*job*/) override { return unexpected({.message = "lost"}); }
};

}  // namespace

TEST_CASE("stress parameters are read back as they were") {
  const StressParameters parameters{.gpu = "NVIDIA H100 80GB HBM3",
                                    .driver = "13000",
                                    .distance = 128,
                                    .stress = {.kind = StressKind::kSystematic,
                                               .words = 8192,
                                               .threads = 512,
                                               .patch = 128,
                                               .spread = 8,
                                               .stores = 0b0110,
                                               .length = 4}};
  CHECK(parse_stress_parameters(to_string(parameters), "f") == parameters);
  CHECK(sequence_text(parameters.stress) == "ld st2 ld");
  CHECK(sequence_text({}) == "ld st");
  CHECK(sequence_text({.stores = 0b11111, .length = 5}) == "st5");
}

TEST_CASE("other stress parameters are refused with file and line") {
  CHECK(error_of("").find("a.stress:1: ") != std::string::npos);
  CHECK(error_of("barracuda-stress 2\n").find("barracuda tune") != std::string::npos);
  const std::string good = to_string(StressParameters());
  for (const char* line : {"stress loud", "words", "threads 0", "threads 2000", "spread x",
                           "distance 0", "colour 3", "stores 32", "length 6"}) {
    CHECK(error_of(good + line + "\n").find("a.stress:12: ") != std::string::npos);
  }
  CHECK(error_of(good + "words 5000\n").find("power of two") != std::string::npos);
}

TEST_CASE("parameters are kept by GPU and driver") {
  setenv("XDG_CACHE_HOME", "/c", 1);
  const FakeDevice device;
  CHECK(stress_file(device) == "/c/barracuda/stress/GPU_1_2-13000.stress");
}

TEST_CASE("the best point is one that none beats, with the greatest sum") {
  CHECK(best_point({point(1, 1, 1), point(5, 5, 5), point(9, 0, 0)}).sum() == 15);
  // More in all, but beaten in nothing: the sum decides.
  CHECK(best_point({point(5, 5, 5), point(4, 4, 90)}).weak[2] == 90);
  CHECK(best_point({point(0, 0, 0)}).sum() == 0);
}

TEST_CASE("a device that fails ends the tuning with its error") {
  FakeDevice device;
  const auto tuning = tune(device, {}, [] { return false; }, [](const std::string&) {});
  REQUIRE(!tuning);
  CHECK(tuning.error().message == "lost");
  const auto over = tune(device, {}, [] { return true; }, [](const std::string&) {});
  REQUIRE(over);
  CHECK(over->is_incomplete);
  CHECK(!over->shows_weak_behaviour);
}

}  // namespace barracuda::weak_memory
