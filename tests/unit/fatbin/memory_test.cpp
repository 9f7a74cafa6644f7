// Fat binaries as they stand in a process: behind the wrappers that nvcc's host code registers.
#include <algorithm>
#include <cstring>
#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "fatbin/builder.h"
#include "nvcc_output.h"

namespace {

std::vector<const void*>* g_registered = nullptr;

}  // namespace

// What the host code of an opened library calls: the executable's definitions come before
// libcudart's.
extern "C" {
__attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void* wrapper) {
  g_registered->push_back(wrapper);
  static void* handle = nullptr;
  return &handle;
}

__attribute__((visibility("default"))) void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

__attribute__((visibility("default"))) void __cudaUnregisterFatBinary(void** /*handle*/) {}

__attribute__((visibility("default"))) void __cudaRegisterFunction(void** /*handle*/, ...) {}

__attribute__((visibility("default"))) void __cudaRegisterVar(void** /*handle*/, ...) {}
}

namespace barracuda::fatbin {
namespace {

// The wrappers that a library of nvcc's registers when it is opened. It stays open.
std::vector<const void*> wrappers_of(std::string_view name) {
  std::vector<const void*> wrappers;
  g_registered = &wrappers;
  void* const library = ::dlopen(nvcc_output(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO((library == nullptr ? ::dlerror() : ""));
  REQUIRE(library != nullptr);
  g_registered = nullptr;
  REQUIRE(wrappers.size() == 1);
  return wrappers;
}

TEST_CASE("the wrapper that a program registers leads to what its file holds") {
  for (const char* const name : {"default", "speed", "cubin_only", "many"}) {
    const void* const wrapper = wrappers_of(name).front();
    REQUIRE(kind_of_image(wrapper) == ImageKind::kWrapper);
    CHECK(is_fatbin(wrapper));
    const auto fatbin = read(wrapper, Payloads::kAll);
    INFO((fatbin ? "" : fatbin.error().message));
    REQUIRE(fatbin);
    CHECK(fatbin->wrapper_version == 1);
    CHECK(fatbin->units.empty());
    const HostImage file = image_of(name);
    CHECK(std::find(file.containers.begin(), file.containers.end(), fatbin->main) !=
          file.containers.end());
    CHECK(fatbin->translation_units().size() == 1);
    CHECK(&fatbin->translation_units()[0] == &fatbin->main);
  }
}

TEST_CASE("the wrapper of a linked program leads to each translation unit's PTX") {
  const auto fatbin = read(wrappers_of("rdc").front());
  REQUIRE(fatbin);
  CHECK(fatbin->wrapper_version == 2);
  for (const Image& image : fatbin->main.images) {
    CHECK(image.kind == EntryKind::kCubin);
  }
  REQUIRE(fatbin->units.size() >= 2);
  CHECK(fatbin->translation_units().size() == fatbin->units.size());
  std::string all;
  for (const Container& unit : fatbin->translation_units()) {
    const Image* const ptx = best_ptx_for_emulator(unit, 1000);
    REQUIRE(ptx != nullptr);
    CHECK_THAT(ptx->identifier, Catch::Contains("rdc_"));
    all += ptx->payload;
  }
  CHECK_THAT(all, Catch::Contains(".visible .entry _Z5firstPi(") &&
                      Catch::Contains(".extern .func (.param .b32 func_retval0) _Z5twicei") &&
                      Catch::Contains(".visible .func (.param .b32 func_retval0) _Z5twicei"));
}

TEST_CASE("a header without its wrapper is a fat binary too") {
  const void* const wrapper = wrappers_of("sm_90").front();
  const void* const header = static_cast<const Wrapper*>(wrapper)->header;
  CHECK(kind_of_image(header) == ImageKind::kHeader);
  const auto fatbin = read(header);
  REQUIRE(fatbin);
  CHECK(fatbin->wrapper_version == 0);
  CHECK(fatbin->main == read(wrapper).value().main);
}

TEST_CASE("the kinds of images are told apart, and nothing is read behind what decides") {
  CHECK(kind_of_image(nullptr) == ImageKind::kUnknown);
  CHECK(kind_of_image("") == ImageKind::kUnknown);
  CHECK(kind_of_image("\x7f") == ImageKind::kUnknown);
  CHECK(kind_of_image("\x50\xed") == ImageKind::kUnknown);
  CHECK(kind_of_image(".version 9.0\n") == ImageKind::kPtxText);
  CHECK(kind_of_image("//\n// by hand\n/* so */ \r\n.version\t9.0") == ImageKind::kPtxText);
  CHECK(kind_of_image("/* .version 9.0") == ImageKind::kUnknown);
  CHECK(kind_of_image("// .version 9.0") == ImageKind::kUnknown);
  CHECK(kind_of_image("/") == ImageKind::kUnknown);
  CHECK(kind_of_image(".versions 9.0") == ImageKind::kUnknown);
  CHECK(kind_of_image("#include <x>") == ImageKind::kUnknown);
  const auto cubin = image_of("cubin_only");
  CHECK(kind_of_image(cubin.containers.front().images.front().payload.data()) == ImageKind::kCubin);
  CHECK_FALSE(is_fatbin(cubin.containers.front().images.front().payload.data()));
  const std::string program = section_of("program_shared", ".interp");
  CHECK(kind_of_image(program.c_str()) == ImageKind::kUnknown);
}

TEST_CASE("a wrapper that leads nowhere is an error") {
  const auto embedded =
      EmbeddedFatbin::build(
          {.main = {.images = {image_of_ptx(".version 9.0\n.target sm_90\n").value()}}})
          .value();
  const auto error_of = [&](auto change) {
    Wrapper wrapper = *embedded.wrapper();
    change(wrapper);
    const auto result = read(&wrapper);
    REQUIRE_FALSE(result);
    return result.error().message;
  };
  CHECK(error_of([](Wrapper& w) { w.version = 3; }) ==
        "a fat binary's wrapper has version 3, which we do not know");
  CHECK(error_of([](Wrapper& w) { w.header = nullptr; }) ==
        "a fat binary's wrapper points to nothing");
  CHECK(error_of([](Wrapper& w) { w.header = "text"; }) ==
        "the fat binary's wrapper points to no fat binary");
  CHECK(error_of([](Wrapper& w) { w.magic = 1; }) == "this is no fat binary");
  const void* const units[] = {"text", nullptr};
  CHECK(error_of([&](Wrapper& w) {
          w.version = 2;
          w.units = units;
        }) == "the fat binary's wrapper points to no fat binary");
  CHECK(read(nullptr).error().message == "this is no fat binary");
}

}  // namespace
}  // namespace barracuda::fatbin
