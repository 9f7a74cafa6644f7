#include "report/python_name.h"

#include <catch2/catch.hpp>

#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

TEST_CASE("numba's names are told from those of C++") {
  CHECK(is_numba_name("__main__::put(int)"));
  CHECK(is_numba_name("_3cdynamic_3e::put(int)"));
  CHECK(is_numba_name("mine::make::_3clocals_3e::put(int)"));
  CHECK(is_numba_name("mine::put(Array<float, 2, C, readonly, aligned>, long long)"));
  CHECK_FALSE(is_numba_name("mine::put(int)"));
  CHECK_FALSE(is_numba_name("void put<Array<float, 2> >(Array<float, 2>)"));
  CHECK_FALSE(is_numba_name("triton_kernel"));
}

TEST_CASE("a kernel of numba has its name of Python") {
  CHECK(python_name("__main__::put(Array<int, 1, C, mutable, aligned>, bool)") == "put");
  CHECK(python_name("__main__::main::_3clocals_3e::put()") == "main.<locals>.put");
  CHECK(python_name("package::module::put(int)") == "package.module.put");
  CHECK(python_name("_3cdynamic_3e::put(int)") == "put");
  CHECK(python_name("__main__::_3clambda_3e(int)") == "<lambda>");
  CHECK(python_name("__main__::half_3com(int)") == "half_3com");
}

TEST_CASE("a report has Python's names, and those of C++ as they were") {
  CHECK(simple_name(demangle("_ZN8__main__3putB2v1B5cw51cE5ArrayIiLi1E1C7mutable7alignedE")) ==
        "put");
  CHECK(simple_name("ns::put(int)") == "ns::put(int)");
}

}  // namespace
}  // namespace barracuda::report
