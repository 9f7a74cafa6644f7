// Which loads of shared memory one hook logs: those of one straight piece of code, of which nothing
// changes an address and nothing orders the thread between the first and the last.
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

std::string instrumented(std::string_view body) {
  std::vector<Module> units;
  units.push_back(parse_module(
      ".version 7.8\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[4096];\n"
      ".visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b32 %s<9>;\n"
      ".reg .b64 %rd<9>;\n" +
      std::string(body) + "ret;\n}\n"));
  auto result = instrument(std::move(units), {});
  REQUIRE(result);
  return std::move(result->text);
}

// How many loads each batch has, in the order of the text.
std::vector<std::size_t> batches_of(std::string_view body) {
  const std::string text = instrumented(body);
  std::vector<std::size_t> sizes;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find("\n$__barracuda_next", at)) != std::string::npos; ++at) {
    sizes.push_back(count(std::string_view(text).substr(begin, at - begin),
                          "st.local.b64 [__barracuda_batch+"));
    begin = at;
  }
  return sizes;
}

std::string loads(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) {
    text += fmt::format("ld.shared.u32 %r{}, [%s1+{}];\n", 1 + i % 8, 4 * i);
  }
  return text;
}

using Sizes = std::vector<std::size_t>;

const std::string kQuiet = "st.shared.u32 [tile], %s1;\nbar.sync 0;\n";
const std::string kStore = "st.shared.u32 [%s2], %s3;\n";

}  // namespace

TEST_CASE("loads that race with nothing while no thread has left have a hook for every 16") {
  CHECK(batches_of(kQuiet + loads(0, 4)) == Sizes{4});
  CHECK(batches_of(kQuiet + loads(0, 40)) == Sizes{16, 16, 8});
  CHECK(batches_of(kQuiet + loads(0, 3)).empty());
  const std::string text = instrumented(kQuiet + loads(0, 16));
  CHECK(count(text, "call __barracuda_followed_access,") == 1);
  CHECK(count(text, "__barracuda_keep_load") == 0);
  // Before the last load, and behind the others.
  const std::size_t hook = text.find("$__barracuda_next");
  CHECK(text.find("[%s1+56];") < hook);
  CHECK(text.find("[%s1+60];") > hook);
}

TEST_CASE("loads that ask the states are put together where a kernel has many sites") {
  CHECK(batches_of(kStore + loads(0, 250)).empty());
  const std::string many = kStore + loads(0, 272);
  CHECK(batches_of(many) == Sizes(17, 16));
  const std::string text = instrumented(many);
  CHECK(count(text, ", __barracuda_keep_load,") == 17);
  CHECK(count(text, "call __barracuda_followed_access,") == 17);
}

TEST_CASE("a batch ends where its loads would not be the same later") {
  const auto halves = [](const std::string& between) {
    return batches_of(kQuiet + loads(0, 5) + between + loads(5, 11));
  };
  const Sizes whole{11}, parts{5, 6};
  CHECK(halves("") == whole);
  CHECK(halves("add.u32 %s3, %s3, 4;\n") == whole);
  CHECK(halves("shfl.sync.bfly.b32 %s3, %s4, 1, 31, -1;\n") == whole);
  CHECK(halves("add.u32 %s1, %s1, 4;\n") == parts);
  CHECK(halves("ld.shared.u32 %s1, [%s2];\n") == Sizes{6, 6});  // by itself it is of the first
  CHECK(halves("@%p1 mov.u32 %s1, 0;\n") == parts);
  CHECK(halves("@%p1 bra there;\nthere:\n") == parts);
  CHECK(batches_of(kQuiet + loads(0, 5) + "again:\n" + loads(5, 11) + "@%p1 bra again;\n") ==
        parts);
  CHECK(halves("bar.sync 0;\n") == parts);
  CHECK(halves("@%p1 ld.shared.u32 %s3, [%s2];\n") == parts);
}

TEST_CASE("lanes that have a piece of a matrix meet the others before the last one is loaded") {
  std::string body = kQuiet;
  for (int i = 0; i < 4; ++i) {
    body += fmt::format("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r{}}}, [%s{}];\n", i, i);
  }
  CHECK(batches_of(body) == Sizes{4});
  const std::string text = instrumented(body);
  CHECK(count(text, "bar.warp.sync 0xffffffff;") == 1);
  CHECK(text.find("bar.warp.sync 0xffffffff;") < text.rfind("ldmatrix"));
  CHECK(text.find("bar.warp.sync 0xffffffff;") > text.find("$__barracuda_next"));
}

}  // namespace barracuda::ptx
