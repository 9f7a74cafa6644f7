// Random choices for traces; they shrink towards doing less.
#pragma once

#include <rapidcheck.h>

#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {

inline rc::Gen<Choice> choices() {
  return rc::gen::build<Choice>(
      rc::gen::set(&Choice::who, rc::gen::arbitrary<std::uint8_t>()),
      rc::gen::set(&Choice::what, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>())),
      rc::gen::set(&Choice::where, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>())),
      rc::gen::set(&Choice::how, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>())),
      rc::gen::set(&Choice::lanes, rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>())));
}

}  // namespace barracuda::oracle
