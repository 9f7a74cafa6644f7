// A runtime function that is a driver function by another name: the same arguments in the same
// order, as the driver's types, and after them what the runtime leaves out (Last). A stream is the
// one that the call's form means, a kernel and a description are looked up and translated.
#pragma once

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulator/libcudart/graph/graph_parameters.h"
#include "emulator/libcudart/memory/box_copy.h"
#include "emulator/libcudart/module/function.h"

namespace barracuda::emulator::runtime {

// prepare() says what is wrong with the argument; get() is then what the driver gets for it. Enums
// and structures are the driver's, with the same numbers and layouts.
template <typename To, typename From>
struct Argument {
  From from;

  static cudaError_t prepare(const DriverCalls& /*calls*/) { return cudaSuccess; }

  [[nodiscard]] To get() const {
    if constexpr (std::is_same_v<To, CUstream>) {
      return stream_of(from);
    } else if constexpr (std::is_convertible_v<From, To>) {
      return from;
    } else if constexpr (std::is_enum_v<To>) {
      static_assert(std::is_enum_v<From>);
      return static_cast<To>(from);
    } else if constexpr (std::is_same_v<To, CUdeviceptr>) {
      return device_pointer(from);
    } else if constexpr (std::is_pointer_v<To>) {
      using Pointee = std::remove_pointer_t<From>;
      if constexpr (!std::is_void_v<Pointee>) {
        static_assert(sizeof(Pointee) == sizeof(std::remove_pointer_t<To>));
      }
      return reinterpret_cast<To>(const_cast<std::remove_const_t<Pointee>*>(from));
    } else {
      return std::bit_cast<To>(from);
    }
  }
};

template <>
struct Argument<CUfunction, const void*> {
  const void* symbol;
  CUfunction function = nullptr;

  cudaError_t prepare(const DriverCalls& calls) { return find_function(calls, symbol, function); }

  [[nodiscard]] CUfunction get() const { return function; }
};

template <typename To, typename From>
  requires requires(const DriverCalls& calls, const From& from, std::remove_const_t<To>& to) {
    describe(calls, from, to);
  }
struct Argument<To*, From*> {
  From* from;
  std::remove_const_t<To> described{};

  cudaError_t prepare(const DriverCalls& calls) {
    return from == nullptr ? cudaErrorInvalidValue
                           : static_cast<cudaError_t>(describe(calls, *from, described));
  }

  [[nodiscard]] To* get() { return &described; }
};

template <typename Runtime, auto Driver, auto... Last>
struct Forward;

template <typename... From, typename... To, CUresult (*DriverCalls::*Driver)(To...), auto... Last>
struct Forward<cudaError_t(From...), Driver, Last...> {
  static_assert(sizeof...(To) == sizeof...(From) + sizeof...(Last));

  static cudaError_t call(From... from) {
    return run([&](const DriverCalls& calls) { return forward(calls, from...); });
  }

  static cudaError_t call_without_context(From... from) {
    return run_without_context([&](const DriverCalls& calls) { return forward(calls, from...); });
  }

 private:
  static cudaError_t forward(const DriverCalls& calls, From... from) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...> /*all*/) {
      std::tuple<Argument<std::tuple_element_t<Index, std::tuple<To...>>, From>...> arguments{
          {from}...};
      cudaError_t error = cudaSuccess;
      static_cast<void>(
          (((error = std::get<Index>(arguments).prepare(calls)) == cudaSuccess) && ...));
      return error != cudaSuccess ? error
                                  : static_cast<cudaError_t>((calls.*Driver)(
                                        std::get<Index>(arguments).get()..., Last...));
    }(std::index_sequence_for<From...>());
  }
};

}  // namespace barracuda::emulator::runtime
