#include "session/kernel_filter.h"

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

constexpr const char* kAdd = "_Z3addPiS_";  // add(int*, int*)

TEST_CASE("without the option every kernel matches") {
  CHECK(KernelFilter().matches(kAdd));
  CHECK(KernelFilter::parse("").value().matches(kAdd));
}

TEST_CASE("an exact name may be mangled, demangled or without parameters") {
  for (const char* const name : {"_Z3addPiS_", "add(int*, int*)", "add"}) {
    CHECK(KernelFilter::parse(name).value().matches(kAdd));
  }
  CHECK_FALSE(KernelFilter::parse("ad").value().matches(kAdd));
}

TEST_CASE("a regular expression is searched for in the demangled name") {
  CHECK(KernelFilter::parse("regex=^ad+").value().matches(kAdd));
  CHECK(KernelFilter::parse("regex=int").value().matches(kAdd));
  CHECK_FALSE(KernelFilter::parse("regex=^int").value().matches(kAdd));
}

TEST_CASE("what is no regular expression is an error that quotes it") {
  const auto filter = KernelFilter::parse("regex=(");
  REQUIRE_FALSE(filter);
  CHECK(filter.error().message.find("'('") != std::string::npos);
}

}  // namespace
}  // namespace barracuda::session
