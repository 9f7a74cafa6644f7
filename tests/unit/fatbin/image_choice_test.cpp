#include <algorithm>

#include <catch2/catch.hpp>

#include "fatbin/builder.h"
#include "nvcc_output.h"

namespace barracuda::fatbin {
namespace {

Container container_for(std::initializer_list<const char*> targets) {
  Container container;
  container.images.push_back({.kind = EntryKind::kCubin, .arch = 90, .payload = "code"});
  for (const char* const target : targets) {
    container.images.push_back(
        image_of_ptx(".version 9.0\n.target sm_" + std::string(target) + "\n").value());
  }
  return container;
}

std::string chosen(const Image* image) {
  return image == nullptr ? "none" : image->target();
}

std::string on_gpu(std::initializer_list<const char*> targets, std::uint32_t arch) {
  const Container container = container_for(targets);
  return chosen(best_ptx(container, arch));
}

std::string emulated(std::initializer_list<const char*> targets, std::uint32_t limit) {
  const Container container = container_for(targets);
  return chosen(best_ptx_for_emulator(container, limit));
}

TEST_CASE("a device takes the highest PTX that it can run, in whatever order they stand") {
  CHECK(on_gpu({"75", "90", "80"}, 90) == "compute_90");
  CHECK(on_gpu({"90", "75", "80"}, 89) == "compute_80");
  CHECK(on_gpu({"100", "90"}, 75) == "none");
  CHECK(on_gpu({}, 90) == "none");
}

TEST_CASE("an architecture-specific PTX is for that architecture only, and preferred there") {
  CHECK(on_gpu({"80", "90a", "90"}, 90) == "compute_90a");
  CHECK(on_gpu({"90", "90a"}, 90) == "compute_90a");
  CHECK(on_gpu({"80", "90a"}, 100) == "compute_80");
  CHECK(on_gpu({"90a"}, 100) == "none");
  CHECK(on_gpu({"90a"}, 89) == "none");
}

TEST_CASE("a family's PTX is for later devices of the same major number") {
  CHECK(on_gpu({"80", "100f"}, 100) == "compute_100f");
  CHECK(on_gpu({"80", "100f"}, 103) == "compute_100f");
  CHECK(on_gpu({"80", "103f"}, 100) == "compute_80");
  CHECK(on_gpu({"80", "100f"}, 120) == "compute_80");
  CHECK(on_gpu({"100", "100f"}, 100) == "compute_100f");
}

TEST_CASE("the emulated device takes the highest plain PTX up to its limit") {
  CHECK(emulated({"75", "90a", "80", "120"}, 90) == "compute_80");
  CHECK(emulated({"90a", "100f"}, 90) == "compute_90a");
  CHECK(emulated({"75", "80"}, 1000) == "compute_80");
}

TEST_CASE("the emulated device takes the lowest PTX where all are above its limit") {
  CHECK(emulated({"120", "100", "103"}, 90) == "compute_100");
  CHECK(emulated({}, 90) == "none");
}

TEST_CASE("a choice is made among the PTX that nvcc writes") {
  const HostImage image = image_of("many");
  const auto found = std::ranges::find_if(image.containers, [](const Container& container) {
    return best_ptx_for_emulator(container, 90) != nullptr;
  });
  REQUIRE(found != image.containers.end());
  CHECK(chosen(best_ptx(*found, 90)) == "compute_90a");
  CHECK(chosen(best_ptx(*found, 89)) == "compute_80");
  CHECK(chosen(best_ptx(*found, 103)) == "compute_100f");
  CHECK(chosen(best_ptx_for_emulator(*found, 90)) == "compute_90");
}

TEST_CASE(
    "machine code runs on later devices of its major number, and what is nearest comes first") {
  Container container;
  const auto add = [&container](std::uint32_t arch, ArchVariant variant) {
    container.images.push_back({.kind = EntryKind::kCubin, .arch = arch, .variant = variant});
  };
  add(80, ArchVariant::kPlain);
  add(90, ArchVariant::kPlain);
  add(86, ArchVariant::kPlain);
  add(90, ArchVariant::kArchSpecific);
  container.images.push_back({.kind = EntryKind::kPtx, .arch = 90});
  const auto targets = [](const std::vector<const Image*>& images) {
    std::string all;
    for (const Image* const image : images) {
      all += (all.empty() ? "" : " ") + image->target();
    }
    return all;
  };
  CHECK(targets(machine_code(container)) == "sm_90a sm_90 sm_86 sm_80");
  CHECK(targets(machine_code_for(container, 90)) == "sm_90a sm_90");
  CHECK(targets(machine_code_for(container, 89)) == "sm_86 sm_80");
  CHECK(targets(machine_code_for(container, 80)) == "sm_80");
  CHECK(targets(machine_code_for(container, 100)).empty());
}

}  // namespace
}  // namespace barracuda::fatbin
