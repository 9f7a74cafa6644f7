#include "ptx/analysis/parameter_words.h"

#include <algorithm>

namespace barracuda::ptx {

ParameterWords::ParameterWords(const Module& module, const Function& function)
    : function_(function), constants_(module, function) {}

std::optional<ArgumentWord> ParameterWords::word_of(const Instruction& load, std::uint32_t element,
                                                    std::uint32_t bytes) const {
  const bool is_parameter = load.has(Modifier::kParam) || load.has(Modifier::kParamEntry);
  if (!is_parameter || !function_.is_entry || load.operands.size() != 2) {
    return std::nullopt;
  }
  const std::optional<NamedPlace> place = constants_.place_of(load.operands.back());
  if (!place) {
    return std::nullopt;
  }
  const auto parameter = std::ranges::find(function_.parameters, place->name, &Variable::name);
  const std::int64_t offset = place->offset + std::int64_t{element} * std::int64_t{bytes};
  if (parameter == function_.parameters.end() || offset < 0 ||
      static_cast<std::uint64_t>(offset) + bytes > parameter->size()) {
    return std::nullopt;
  }
  return ArgumentWord{
      .parameter = static_cast<std::uint32_t>(parameter - function_.parameters.begin()),
      .offset = static_cast<std::uint32_t>(offset)};
}

}  // namespace barracuda::ptx
