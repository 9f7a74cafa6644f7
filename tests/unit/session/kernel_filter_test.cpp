#include "session/kernel_filter.h"

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

constexpr const char* kAdd = "_Z3addPiS_";  // add(int*, int*)

KernelFilter filter(const std::string& only, const std::string& exclude = "") {
  Options options;
  options.kernel_name = only;
  options.kernel_name_exclude = exclude;
  return KernelFilter::parse(options).value();
}

TEST_CASE("without the options every kernel matches") {
  CHECK(KernelFilter().matches(kAdd));
  CHECK(filter("").matches(kAdd));
}

TEST_CASE("an exact name may be mangled, demangled or without parameters") {
  for (const char* const name : {"_Z3addPiS_", "add(int*, int*)", "add", "kne=add"}) {
    CHECK(filter(name).matches(kAdd));
    CHECK_FALSE(filter("", name).matches(kAdd));
  }
  CHECK_FALSE(filter("ad").matches(kAdd));
}

TEST_CASE("a part may stand in the mangled or the demangled name") {
  CHECK(filter("kns=ad").matches(kAdd));
  CHECK(filter("kns=3addPi").matches(kAdd));
  CHECK(filter("kns=(int*").matches(kAdd));
  CHECK_FALSE(filter("kns=sub").matches(kAdd));
}

TEST_CASE("a regular expression is searched for in the demangled name") {
  CHECK(filter("regex=^ad+").matches(kAdd));
  CHECK(filter("regex=int").matches(kAdd));
  CHECK_FALSE(filter("regex=^int").matches(kAdd));
}

TEST_CASE("what is excluded is left out of what is chosen") {
  CHECK(filter("kns=a", "kns=sub").matches(kAdd));
  CHECK_FALSE(filter("kns=a", "regex=d+").matches(kAdd));
}

TEST_CASE("what is no regular expression is an error that quotes it") {
  Options options;
  options.kernel_name_exclude = "regex=(";
  const auto parsed = KernelFilter::parse(options);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message.find("'('") != std::string::npos);
}

}  // namespace
}  // namespace barracuda::session
