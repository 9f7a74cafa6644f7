#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "cli/device_code.h"
#include "cli/doctor_machine.h"
#include "cli/doctor_page.h"
#include "cli/doctor_program.h"
#include "cli/loaded_libraries.h"
#include "tests/unit/fatbin/nvcc_output.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

constexpr DeviceArch kEmulated = 0;
constexpr DoctorDevice kNoGpu{.is_emulated = true, .arch = 0};
constexpr DoctorDevice kHopper{.is_emulated = false, .arch = 90};

DeviceCode code_of(std::string_view variant, DeviceArch arch = kEmulated) {
  const std::string file = fatbin::nvcc_output(variant);
  const auto image = fatbin::read_host_image(file);
  REQUIRE(image.has_value());
  return read_device_code(file, *image, arch);
}

std::size_t count(const std::vector<Fact>& facts, Standing standing) {
  return static_cast<std::size_t>(std::ranges::count(facts, standing, &Fact::standing));
}

std::string texts_of(const std::vector<Fact>& facts, Standing standing) {
  std::string text;
  for (const Fact& fact : facts) {
    text += fact.standing == standing ? fact.text + "\n" + fact.cure + "\n" : "";
  }
  return text;
}

std::vector<Fact> facts_of(const std::string& file, const DoctorDevice& device) {
  std::vector<Fact> facts;
  for (const DoctorSection& section : examine_program(file, device)) {
    facts.insert(facts.end(), section.facts.begin(), section.facts.end());
  }
  return facts;
}

TEST_CASE("a program with PTX has kernels, without lines unless it was asked for them") {
  const DeviceCode plain = code_of("default");
  CHECK(plain.units == 1);
  CHECK(plain.without_ptx == 0);
  REQUIRE(plain.kernels.size() == 1);
  CHECK(plain.kernels[0].name == "count(int*)");
  CHECK_FALSE(plain.kernels[0].has_lines);
  CHECK(plain.kernels[0].is_instrumented);
  CHECK(texts_of(device_code_facts(plain, "app"), Standing::kNote).find("-lineinfo") !=
        std::string::npos);

  const DeviceCode lines = code_of("lineinfo");
  REQUIRE(lines.kernels.size() == 1);
  CHECK(lines.kernels[0].has_lines);
  CHECK(count(device_code_facts(lines, "app"), Standing::kGood) ==
        device_code_facts(lines, "app").size());
}

TEST_CASE("code without optimisation is noted") {
  CHECK(code_of("debug").has_debug_code);
  CHECK_FALSE(code_of("lineinfo").has_debug_code);
}

TEST_CASE("a program of machine code alone is an obstacle") {
  const DeviceCode code = code_of("cubin_only");
  CHECK(code.units == 1);
  CHECK(code.without_ptx == 1);
  CHECK_FALSE(code.has_ptx());
  CHECK(code.code_targets == std::set<std::string>{"sm_90"});
  const std::vector<Fact> facts = device_code_facts(code, "app");
  CHECK(count(facts, Standing::kObstacle) == 1);
  CHECK_THAT(texts_of(facts, Standing::kObstacle),
             Catch::Contains("only machine code for sm_90") && Catch::Contains("compute_90"));
}

TEST_CASE("PTX that is too new for the GPU is an obstacle there, and none on the emulated device") {
  CHECK(code_of("ptx_only", 80).without_fitting_ptx == 1);
  CHECK(count(device_code_facts(code_of("ptx_only", 80), "app"), Standing::kObstacle) == 1);
  CHECK(code_of("ptx_only", 90).without_fitting_ptx == 0);
  CHECK(code_of("ptx_only").without_fitting_ptx == 0);
}

TEST_CASE("what was linked lacks no PTX where its units have it") {
  const DeviceCode code = code_of("rdc");
  CHECK(code.units == 2);
  CHECK(code.without_ptx == 0);
  CHECK(code.unreadable.empty());
  REQUIRE(code.kernels.size() == 1);
  CHECK(code.kernels[0].has_lines);
}

TEST_CASE("a static runtime is an obstacle where there is no driver") {
  const std::string program = fatbin::nvcc_output("program_static");
  CHECK_THAT(texts_of(facts_of(program, kNoGpu), Standing::kObstacle),
             Catch::Contains("static CUDA runtime") && Catch::Contains("-cudart shared"));
  CHECK(count(facts_of(program, kHopper), Standing::kObstacle) == 0);
}

TEST_CASE("a program with the shared runtime has nothing in the way") {
  const std::vector<Fact> facts = facts_of(fatbin::nvcc_output("program_shared"), kNoGpu);
  CHECK(texts_of(facts, Standing::kObstacle).empty());
  CHECK_THAT(texts_of(facts, Standing::kGood),
             Catch::Contains("the CUDA runtime is shared: libcudart.so."));
}

TEST_CASE("a script is no obstacle, and what is no program is one") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "script", "#!/bin/sh\n./app\n").has_value());
  CHECK(count(facts_of(folder / "script", kNoGpu), Standing::kObstacle) == 0);
  REQUIRE(write_file(folder / "text", "no program").has_value());
  CHECK(count(facts_of(folder / "text", kNoGpu), Standing::kObstacle) == 1);
}

TEST_CASE("a program that gets rights by its file is an obstacle") {
  const ScratchFolder folder;
  const std::string copy = folder / "app";
  std::filesystem::copy_file("/bin/true", copy);
  CHECK(count(facts_of(copy, kNoGpu), Standing::kObstacle) == 0);
  std::filesystem::permissions(copy, std::filesystem::perms::set_uid,
                               std::filesystem::perm_options::add);
  CHECK_THAT(texts_of(facts_of(copy, kNoGpu), Standing::kObstacle), Catch::Contains("setuid"));
}

TEST_CASE("the libraries of a program are those that its loader finds") {
  const auto libraries = loaded_libraries("/bin/ls");
  REQUIRE(libraries.has_value());
  const auto libc = std::ranges::find_if(
      *libraries, [](const LoadedLibrary& library) { return library.name.starts_with("libc.so"); });
  REQUIRE(libc != libraries->end());
  CHECK(libc->path.starts_with('/'));
  CHECK_FALSE(loaded_libraries("/etc/passwd").has_value());

  const auto parsed = parse_loaded_libraries(
      "\tlinux-vdso.so.1 (0x0000)\n\tlibz.so.1 => /lib/libz.so.1 (0x0001)\n"
      "\tlibmine.so => not found\n\tlibnear.so => ./libnear.so (0x0002)\n"
      "\t./libpath.so (0x0003)\n\t/opt/libgone.so => not found\n");
  REQUIRE(parsed.size() == 5);
  CHECK(parsed[0].name == "libz.so.1");
  CHECK(parsed[0].path == "/lib/libz.so.1");
  CHECK(parsed[1].name == "libmine.so");
  CHECK(parsed[1].path.empty());
  CHECK(parsed[2].path == "./libnear.so");
  CHECK(parsed[3].name == "./libpath.so");
  CHECK(parsed[3].path == "./libpath.so");
  CHECK(parsed[4].name == "/opt/libgone.so");
  CHECK(parsed[4].path.empty());
}

TEST_CASE("a cache that is off, that others may write to, and one's own") {
  const ScratchFolder folder;
  Options options;
  options.jit_cache = "none";
  CHECK(cache_fact(options).standing == Standing::kNote);
  options.jit_cache = folder / "cache";
  CHECK(cache_fact(options).standing == Standing::kGood);
  std::filesystem::create_directory(folder / "cache");
  std::filesystem::permissions(folder / "cache", std::filesystem::perms::owner_all);
  REQUIRE(write_file(folder / "cache/code", std::string(3 << 20, 'x')).has_value());
  CHECK_THAT(cache_fact(options).text, Catch::EndsWith(": 3 MiB of 1024"));
  std::filesystem::permissions(folder / "cache", std::filesystem::perms::all);
  CHECK(cache_fact(options).standing == Standing::kNote);
}

TEST_CASE("the page has a line for each fact, its cure, and a last line for scripts") {
  const std::vector<DoctorSection> sections = {
      {.title = "This machine",
       .facts = {{.standing = Standing::kGood, .text = "fine", .cure = ""},
                 {.standing = Standing::kObstacle, .text = "bad", .cure = "mend it"}}}};
  CHECK(obstacles_of(sections) == 1);
  CHECK(doctor_page(sections) ==
        "This machine\n"
        "  ok        fine\n"
        "  OBSTACLE  bad\n"
        "            cure: mend it\n"
        "\n"
        "BARRACUDA DOCTOR: 1 obstacle\n");
  CHECK(doctor_page({}) == "BARRACUDA DOCTOR: nothing is in the way\n");
}

}  // namespace
}  // namespace barracuda::cli
