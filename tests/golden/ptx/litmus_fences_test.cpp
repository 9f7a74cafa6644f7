// The litmus suite's programs with a fence at every place: ptxas assembles them, for the target
// that they were compiled for and for later ones.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fatbin/host_image.h"
#include "fenced.h"
#include "instrumented.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::ptx {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProgramsAtLeast = 150;
constexpr std::array<const char*, 3> kLaterTargets = {"sm_90", "sm_100", "sm_120"};

std::vector<std::string> litmus_programs() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(BARRACUDA_PROGRAMS)) {
    if (entry.path().filename().string().starts_with("litmus_") && !entry.path().has_extension()) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> ptx_of(const std::string& program) {
  std::vector<std::string> texts;
  const auto image = fatbin::read_host_image(program, fatbin::Payloads::kPtx);
  REQUIRE(image);
  for (const fatbin::Container& container : image->containers) {
    for (const fatbin::Image& part : container.images) {
      if (part.kind == fatbin::EntryKind::kPtx) {
        texts.push_back(part.payload);
      }
    }
  }
  return texts;
}

}  // namespace

TEST_CASE("with fences at every place ptxas assembles every litmus program") {
  const auto programs = litmus_programs();
  REQUIRE(programs.size() >= kProgramsAtLeast);
  std::size_t number = 0;
  for (const std::string& program : programs) {
    INFO(program);
    for (const std::string& text : ptx_of(program)) {
      auto module = parse(text);
      REQUIRE(module);
      fence_everywhere(*module);
      const std::string printed = print(*module);
      CHECK(assemble(printed) == "");
      const char* const later = kLaterTargets[number++ % kLaterTargets.size()];
      // What a target has of its own (sm_90a) no other takes.
      if (module->target_arch() <= 90 && !module->target.ends_with('a')) {
        CHECK(assemble_for(later, printed) == "");
      }
    }
  }
  CHECK(number >= kProgramsAtLeast);
}

}  // namespace barracuda::ptx
