// Which word of its parameters a load of an entry reads: by the parameter's name, or through a
// register that holds its address, as nvcc writes it for a structure that is passed by value and
// whose members are read here and there.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/address_form.h"
#include "ptx/analysis/constants.h"
#include "ptx/module.h"

namespace barracuda::ptx {

class ParameterWords {
 public:
  // Both must outlive it.
  ParameterWords(const Module& module, const Function& function);

  // Where the `element`-th value of `bytes` bytes comes from. None: the function is no entry, or it
  // may be anywhere.
  [[nodiscard]] std::optional<ArgumentWord> word_of(const Instruction& load, std::uint32_t element,
                                                    std::uint32_t bytes) const;

 private:
  const Function& function_;
  Constants constants_;
};

}  // namespace barracuda::ptx
