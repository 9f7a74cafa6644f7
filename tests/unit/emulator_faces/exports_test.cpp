// The shared library's names against those of NVIDIA's libraries.
#include "preload/exports.h"

#include <cstdio>
#include <dlfcn.h>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

using barracuda::preload::ExportLibrary;

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

std::set<std::string> exported(ExportLibrary library, const std::string& suffix) {
  std::set<std::string> names;
  for (unsigned index = 0; index < barracuda::preload::export_count(); ++index) {
    if (barracuda::preload::export_library(index) == library) {
      names.insert(std::string(barracuda::preload::export_name(index)) + suffix);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("the runtime names are those of NVIDIA's libcudarts") {
  const std::set<std::string> of_13 = functions_of(BARRACUDA_CUDA_HOME "/lib64/libcudart.so.13");
  CHECK(of_13.size() == 422);
  CHECK(exported(ExportLibrary::kCudart13, "@@libcudart.so.13") == of_13);
#ifdef BARRACUDA_CUDA_12
  const std::set<std::string> of_12 = functions_of(BARRACUDA_CUDA_12 "/lib64/libcudart.so.12");
  CHECK(of_12.size() == 435);
  CHECK(exported(ExportLibrary::kCudart12, "@@libcudart.so.12") == of_12);
#endif
#ifdef BARRACUDA_CUDA_11
  const std::set<std::string> of_11 = functions_of(BARRACUDA_CUDA_11 "/lib64/libcudart.so.11.0");
  CHECK(of_11.size() == 395);
  CHECK(exported(ExportLibrary::kCudart11, "@@libcudart.so.11.0") == of_11);
#endif
}

TEST_CASE("the library exports the names of the tables, with their version nodes, and no others") {
  std::set<std::string> expected = exported(ExportLibrary::kCudart13, "@@libcudart.so.13");
  expected.merge(exported(ExportLibrary::kCudart12, "@libcudart.so.12"));
  expected.merge(exported(ExportLibrary::kCudart11, "@libcudart.so.11.0"));
  expected.merge(exported(ExportLibrary::kCuda, ""));
  CHECK(functions_of(BARRACUDA_FACES_LIBRARY) == expected);
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

TEST_CASE("each libcudart has a function of its own, and no version means the newest") {
  void* const library = dlopen(BARRACUDA_FACES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  using Describe = int (*)(int*);
  int version = 0;
  for (const auto& [node, expected] : {std::pair{"libcudart.so.13", 13000},
                                       {"libcudart.so.12", 12090},
                                       {"libcudart.so.11.0", 11080}}) {
    const auto of_node = reinterpret_cast<Describe>(dlvsym(library, "cudaRuntimeGetVersion", node));
    REQUIRE(of_node != nullptr);
    CHECK(of_node(&version) == 0);
    CHECK(version == expected);
  }
  CHECK(dlsym(library, "cudaRuntimeGetVersion") ==
        dlvsym(library, "cudaRuntimeGetVersion", "libcudart.so.13"));
  CHECK(dlvsym(library, "cudaThreadSynchronize", "libcudart.so.12") != nullptr);
  CHECK(dlvsym(library, "cudaThreadSynchronize", "libcudart.so.13") == nullptr);
}
