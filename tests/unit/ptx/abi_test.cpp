#include "ptx/abi.h"

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

Module parse_header(std::string_view parameters, std::string_view attributes) {
  return parse_module(".visible .entry k(" + std::string(parameters) + ")\n" +
                      std::string(attributes) + "\n{\nret;\n}\n");
}

LaunchBounds bounds_of(std::string_view attributes) {
  const Module module = parse_header(".param .u32 a", attributes);
  return module.functions.at(0).bounds;
}

}  // namespace

TEST_CASE("the bytes of a kernel's parameters end with the last one") {
  const Module module = parse_header(
      ".param .u8 a, .param .align 8 .u32 b, .param .align 4 .b64 c[2], .param .u8 d", "");
  const ParameterLayout layout = parameter_layout(module.functions.at(0));
  CHECK(layout.places == std::vector<ParameterPlace>{{.offset = 0, .size = 1},
                                                     {.offset = 8, .size = 4},
                                                     {.offset = 16, .size = 16},
                                                     {.offset = 32, .size = 1}});
  CHECK(layout.bytes == 33);
  CHECK(parameter_layout(Function{}).bytes == 0);
}

TEST_CASE("launch bounds are what the header says, missing dimensions are 1") {
  const LaunchBounds none = bounds_of("");
  CHECK_FALSE(none.max_block);
  CHECK_FALSE(none.required_block);
  CHECK_FALSE(none.required_cluster);
  const LaunchBounds all = bounds_of(
      ".maxntid 256\n.minnctapersm 2\n.reqntid 16,4\n.explicitcluster\n.reqnctapercluster 2, 1 , "
      "3");
  CHECK(all.max_block == Extent{.x = 256, .y = 1, .z = 1});
  CHECK(all.required_block == Extent{.x = 16, .y = 4, .z = 1});
  CHECK(all.required_cluster == Extent{.x = 2, .y = 1, .z = 3});
  CHECK(all.required_block->volume() == 64);
}

TEST_CASE("an attribute that begins like another is not the other") {
  CHECK_FALSE(bounds_of(".maxnreg 32").max_block);
  CHECK_FALSE(bounds_of(".maxclusterrank 8").required_cluster);
}

}  // namespace barracuda::ptx
