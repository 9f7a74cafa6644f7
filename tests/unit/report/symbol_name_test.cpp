#include "report/symbol_name.h"

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

TEST_CASE("mangled names become C++, others stay") {
  CHECK(demangle("_Z3addPi") == "add(int*)");
  CHECK(demangle("_ZN2ns3addIfEEvPT_") == "void ns::add<float>(float*)");
  CHECK(demangle("plain_c_kernel") == "plain_c_kernel");
  CHECK(demangle("_Znonsense!") == "_Znonsense!");
  CHECK(demangle("").empty());
  CHECK(demangle("_Z3addB5cxx11B3abci") == "add(int)");
  CHECK(demangle("_ZN8__main__3addB2v1B10cw51cXTLSUE5ArrayIiLi1E1CE") ==
        "__main__::add(Array<int, 1, C>)");
}

TEST_CASE("a parameter list is taken off, and only it") {
  CHECK(without_parameters("add(int*)") == "add");
  CHECK(without_parameters("ns::run<void (*)(int)>(void (*)(int))") == "ns::run<void (*)(int)>");
  CHECK(without_parameters("add") == "add");
  CHECK(without_parameters("x)") == "x)");
  CHECK(without_parameters("()") == "()");
}

}  // namespace
}  // namespace barracuda::report
