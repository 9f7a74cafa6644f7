// The shared library's names against those of NVIDIA's libraries.
#include "preload/exports.h"

#include <cstdio>
#include <dlfcn.h>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

namespace {

// The functions that a library defines, as "name" or "name@@version".
std::set<std::string> functions_of(const std::string& library) {
  std::set<std::string> names;
  FILE* const pipe = popen(("nm -D --defined-only " + library).c_str(), "r");
  REQUIRE(pipe != nullptr);
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::istringstream words(line);
    std::string address, type, name;
    words >> address >> type >> name;
    if (type != "A") {
      names.insert(name);
    }
  }
  pclose(pipe);
  return names;
}

std::set<std::string> exported(barracuda::preload::ExportFace face, const std::string& suffix) {
  std::set<std::string> names;
  for (unsigned index = 0; index < barracuda::preload::export_count(); ++index) {
    if (barracuda::preload::export_face(index) == face) {
      names.insert(std::string(barracuda::preload::export_name(index)) + suffix);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("the runtime names are those of NVIDIA's libcudart, version included") {
  const std::set<std::string> theirs = functions_of(BARRACUDA_CUDA_HOME "/lib64/libcudart.so.13");
  CHECK(theirs.size() == 422);
  CHECK(exported(barracuda::preload::ExportFace::kRuntime, "@@libcudart.so.13") == theirs);
}

TEST_CASE("the library exports the names of both tables and nothing else") {
  std::set<std::string> expected =
      exported(barracuda::preload::ExportFace::kRuntime, "@@libcudart.so.13");
  expected.merge(exported(barracuda::preload::ExportFace::kDriver, ""));
  CHECK(functions_of(BARRACUDA_FACES_LIBRARY) == expected);
}

TEST_CASE("an export is found by its name") {
  for (unsigned index = 0; index < barracuda::preload::export_count(); ++index) {
    CHECK(barracuda::preload::find_export(barracuda::preload::export_name(index)) == index);
  }
  CHECK_FALSE(barracuda::preload::find_export("cudaNoSuchFunction"));
  CHECK_FALSE(barracuda::preload::find_export(""));
}

TEST_CASE("a trampoline keeps every argument of its first call") {
  void* const library = dlopen(BARRACUDA_FACES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);

  // The result's address and five numbers: all registers of integer arguments.
  struct Format {
    int x, y, z, w, kind;
  };

  using Create = Format (*)(int, int, int, int, int);
  const auto create =
      reinterpret_cast<Create>(dlvsym(library, "cudaCreateChannelDesc", "libcudart.so.13"));
  REQUIRE(create != nullptr);
  for (int call = 0; call < 2; ++call) {
    const Format format = create(1, 2, 3, 4, 5);
    CHECK(format.x == 1);
    CHECK(format.y == 2);
    CHECK(format.z == 3);
    CHECK(format.w == 4);
    CHECK(format.kind == 5);
  }
  using Describe = int (*)(int*);
  int version = 0;
  const auto version_of =
      reinterpret_cast<Describe>(dlvsym(library, "cudaRuntimeGetVersion", "libcudart.so.13"));
  REQUIRE(version_of != nullptr);
  CHECK(version_of(&version) == 0);
  CHECK(version == 13000);
  version = 0;
  CHECK(version_of(&version) == 0);
  CHECK(version == 13000);
}
