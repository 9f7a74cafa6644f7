// An instrumented module in parts, so that only kernels that are launched are compiled: a base with
// the variables, and one module for each kernel that can stand alone
// (docs/decisions/split-modules.md). A variable of module scope is one instance, the base's: a part
// finds its address in a table of constants that the host fills in.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// In a part: `.const .u64`, the addresses of KernelPart::variables in their order.
inline constexpr const char kAddressTable[] = "__barracuda_variables";

struct KernelPart {
  std::string text;
  std::vector<std::string> variables;
};

class SplitModule {
 public:
  // Of a text that instrument() has made. Errors: those of the parser, and what no part of a module
  // can stand alone beside.
  static Expected<std::unique_ptr<const SplitModule>> read(std::string text);
  SplitModule() = default;
  virtual ~SplitModule() = default;
  SplitModule(const SplitModule&) = delete;
  SplitModule& operator=(const SplitModule&) = delete;

  // How many kernels stand alone, and why each of the others is in the base.
  [[nodiscard]] virtual std::size_t part_count() const = 0;
  [[nodiscard]] virtual const std::map<std::string, std::string, std::less<>>& whole() const = 0;
  [[nodiscard]] virtual bool has_part(std::string_view kernel) const = 0;

  // Everything but the kernels that stand alone: empty kernels have their names.
  [[nodiscard]] virtual std::string base() const = 0;
  // Of a kernel that has one.
  [[nodiscard]] virtual KernelPart part(std::string_view kernel) const = 0;
};

}  // namespace barracuda::ptx
