// Kernels in which nothing orders threads of different blocks: which they are, and that all of
// their sites say so.
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// The numbers of a module's sites.
std::set<std::uint16_t> numbers_of(const std::string& text) {
  std::set<std::uint16_t> numbers;
  for (const Site& site : instrument_text(text).sites) {
    numbers.insert(site.info.narrow_kernel);
  }
  return numbers;
}

std::string kernel_with(const std::string& body) {
  return kernel_text(".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" + body + "ret;\n");
}

bool is_narrow(const std::string& body) {
  const std::set<std::uint16_t> numbers = numbers_of(kernel_with(body));
  REQUIRE(numbers.size() == 1);
  return *numbers.begin() != 0;
}

// As CUB's one-sweep sort looks back.
const std::string kWait =
    "$again:\nmembar.cta;\nld.volatile.global.u32 %r1, [%rd1];\n"
    "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $again;\n";
const std::string kStore = "st.global.u32 [%rd2], %r1;\n";

}  // namespace

TEST_CASE("a kernel is narrow in which nothing reaches further than a block") {
  CHECK(is_narrow(kWait + kStore));
  CHECK(is_narrow(kWait + "bar.sync 0;\n" + kStore));
  CHECK(is_narrow("atom.global.add.u32 %r2, [%rd2], 1;\n" + kWait));
  CHECK(is_narrow("st.volatile.global.u32 [%rd2], %r2;\n" + kWait));
  CHECK(is_narrow("ld.acquire.cta.global.u32 %r2, [%rd2];\n" + kWait));
}

TEST_CASE("a kernel is not narrow in which something may order blocks") {
  CHECK_FALSE(is_narrow(kWait + "membar.gl;\n" + kStore));
  CHECK_FALSE(is_narrow(kWait + "fence.acq_rel.cluster;\n"));
  CHECK_FALSE(is_narrow(kWait + "st.release.gpu.global.u32 [%rd2], %r1;\n"));
  CHECK_FALSE(is_narrow("ld.acquire.gpu.global.u32 %r2, [%rd2];\n" + kWait));
  CHECK_FALSE(is_narrow(kWait + "atom.acq_rel.gpu.global.add.u32 %r2, [%rd2], 1;\n"));
  CHECK_FALSE(is_narrow(kWait + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"));
  CHECK_FALSE(is_narrow(kWait + "fence.proxy.async;\n"));
}

TEST_CASE("a kernel is not narrow where no load or store of global memory could fall silent") {
  CHECK_FALSE(is_narrow(kStore));
  CHECK_FALSE(
      is_narrow("membar.cta;\natom.global.add.u32 %r2, [%rd2], 1;\nst.global.u32 [%rd2], %r2;\n"));
}

TEST_CASE("a kernel is not narrow that calls what is logged") {
  const std::string call = "call helper;\n";
  const auto with = [&](const std::string& helper) {
    std::string text = kernel_with(kWait + call);
    const std::string function =
        ".func helper()\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" + helper + "ret;\n}\n";
    return numbers_of(text.insert(text.find(".visible"), function));
  };
  CHECK(with("membar.gl;\n") == std::set<std::uint16_t>{0});
  CHECK(with(kStore) == std::set<std::uint16_t>{0});
  CHECK(with("add.u32 %r1, %r1, 1;\n").count(0) == 0);
}

TEST_CASE("each kernel of a module has a number of its own") {
  const std::string text = kernel_with(kWait);
  std::string second = text.substr(text.find(".visible"));
  second.replace(second.find("kernel"), 6, "second");
  const std::set<std::uint16_t> numbers = numbers_of(text + second);
  CHECK(numbers.size() == 2);
  CHECK(numbers.count(0) == 0);
}

}  // namespace barracuda::ptx
