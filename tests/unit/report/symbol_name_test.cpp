#include "report/symbol_name.h"

#include <functional>

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

TEST_CASE("what nvcc puts around static names is not the program's") {
  CHECK(demangle("_ZN35_INTERNAL_d4b68a55_5_m1_cu_08ab30e56helperEPi") == "helper(int*)");
  CHECK(demangle("_ZN35_INTERNAL_d4b68a55_5_m1_cu_08ab30e537_GLOBAL__N__d4b68a55_5_m1_cu_08ab30e5"
                 "7counterE") == "(anonymous namespace)::counter");
  CHECK(demangle("__nv_static_26__d4b68a55_5_m1_cu_08ab30e5__Z7hidden2Pi") == "hidden2(int*)");
  CHECK(demangle("__nv_static_of_a_c_program") == "__nv_static_of_a_c_program");
}

TEST_CASE("a variable's own name is neither its function's nor its namespace's") {
  CHECK(variable_name("_ZZ3addPiE4tile") == "tile");
  CHECK(variable_name("_ZN2ns7counterE") == "counter");
  CHECK(variable_name("_ZZN2ns3addIfEEvPT_E4tile") == "tile");
  CHECK(variable_name("plain") == "plain");
  CHECK(variable_name("_ZZ6litmusPiS_S_E1s_$_0") == "s");
  CHECK(part_of_variable("_ZZ6litmusPiS_S_E1s_$_0") == "_$_0");
  CHECK(part_of_variable("cells_$_1_$_0") == "_$_1_$_0");
  CHECK(part_of_variable("_$_0").empty());
  CHECK(part_of_variable("cells_$_a").empty());
  CHECK(variable_name("").empty());
}

TEST_CASE("a parameter list is taken off, and only it") {
  CHECK(without_parameters("add(int*)") == "add");
  CHECK(without_parameters("ns::run<void (*)(int)>(void (*)(int))") == "ns::run<void (*)(int)>");
  CHECK(without_parameters("add") == "add");
  CHECK(without_parameters("x)") == "x)");
  CHECK(without_parameters("()") == "()");
}

TEST_CASE("the return type of a template is no part of its name") {
  CHECK(without_return_type("void vendor::scan<int>(int*)") == "vendor::scan<int>(int*)");
  CHECK(without_return_type("unsigned long ns::f<int, (E)1>(T)") == "ns::f<int, (E)1>(T)");
  CHECK(without_return_type("std::enable_if<true, void>::type f<int>(int)") == "f<int>(int)");
  CHECK(without_return_type("void (anonymous namespace)::f<int>(int)") ==
        "(anonymous namespace)::f<int>(int)");
  CHECK(without_return_type("add(int const*, int)") == "add(int const*, int)");
  CHECK(without_return_type("add") == "add");
  CHECK(without_return_type("Cell::operator bool() const") == "Cell::operator bool() const");
  CHECK(without_return_type("Cell& operator<< <int>(Cell&)") == "operator<< <int>(Cell&)");
  CHECK(without_return_type("").empty());
}

TEST_CASE("instances of a template share a name, what is no template keeps its parameters") {
  CHECK(template_name("void vendor::scan<int>(int*)") == "vendor::scan");
  CHECK(template_name("void vendor::scan<float, (Mode)1>(float*)") == "vendor::scan");
  CHECK(template_name("Tile<int>::load(int)") == "Tile::load");
  CHECK(template_name("add(int*)") == "add(int*)");
  CHECK(template_name("add(Tile<int>&)") == template_name("add(Tile<float>&)"));
  CHECK(template_name("Cell::operator<(int)") == "Cell::operator<(int)");
  CHECK(template_name("void run<void main::{lambda(int)#1}::operator()<int>(int)>(int)") == "run");
  CHECK(template_name("_INTERNAL_7f3a_6_app_cu_91::add(int*)") == "add(int*)");
  CHECK(template_name("_GLOBAL__N__7f3a_6_app_cu_91::add(int*)") == "add(int*)");
  CHECK(template_name("kernel").compare("kernel") == 0);
}

TEST_CASE("a short name stays, and a long one keeps what it is recognised by") {
  CHECK(simple_name("void add<std::vector<int, std::allocator<int> > >(int*)") ==
        "void add<std::vector<int, std::allocator<int> > >(int*)");
  CHECK(simple_name("void ns::sort<std::vector<int, std::allocator<int> >, std::less<int> >(int*, "
                    "std::vector<int, std::allocator<int> >)") ==
        "void ns::sort<std::vector<int>>(int*, std::vector<int>)");
  const std::string policy = "cub::DevicePolicy<unsigned int, unsigned long long, int, float>";
  CHECK(simple_name("void cub::kernel<" + policy + ", true, int>(unsigned int const*, int)") ==
        "void cub::kernel<cub::DevicePolicy<…>, true, int>(unsigned int const*, int)");
  CHECK(simple_name("void cub::kernel<int, " + policy + ", true>(unsigned int const*, int*)") ==
        "void cub::kernel<int, cub::DevicePolicy<…>, true>(unsigned int const*, int*)");
  CHECK(simple_name("void f<" + std::string(50, 'x') + "<int>, " + std::string(50, 'y') + ">()") ==
        "void f<…>()");
  const std::string compares =
      "bool a_rather_long_namespace::another_one::operator< <int>(my_pair<int> const&, int const&)";
  CHECK(simple_name(compares).starts_with("bool a_rather_long_namespace::another_one::operator<"));
  const std::string broken = "f<" + std::string(100, 'x');
  CHECK(simple_name(broken) == broken);
}

TEST_CASE("a function's last name has neither scope nor arguments") {
  CHECK(last_name("void ns::put<int, 3>(int*, int)") == "put");
  CHECK(last_name("race(int*)") == "race");
  CHECK(last_name("(anonymous namespace)::Tile<int>::load(int)") == "load");
  CHECK(last_name("kernel").compare("kernel") == 0);
}

}  // namespace
}  // namespace barracuda::report
