#include "weak_memory/fence_report.h"

#include <set>
#include <vector>

#include "report/symbol_name.h"

namespace barracuda::weak_memory {
namespace {

report::MissingFence fence_at(const ptx::StatementName& at,
                              const std::vector<ptx::SourcePlace>& lines,
                              const std::set<std::string>& kernels, const ptx::Fence& fence,
                              std::size_t runs) {
  report::MissingFence missing{.place = {},
                               .inlined = {},
                               .statement = to_string(at),
                               .kernel = kernels.size() == 1 ? kernel_name(*kernels.begin()) : "",
                               .kind = std::string(ptx::word_of(fence.order)),
                               .scope = std::string(ptx::word_of(fence.scope)),
                               .cuda = fence.scope == wire::Scope::kCta   ? "__threadfence_block()"
                                       : fence.scope == wire::Scope::kSys ? "__threadfence_system()"
                                                                          : "__threadfence()",
                               .runs = runs};
  for (const ptx::SourcePlace& line : lines) {
    missing.inlined.push_back({.function = "", .file = line.file, .line = line.line});
  }
  if (!missing.inlined.empty()) {
    missing.inlined.front().function = kernel_name(at.function);
    missing.place = missing.inlined.front();
  }
  return missing;
}

}  // namespace

std::string kernel_name(const std::string& mangled) {
  return report::without_return_type(report::demangle(mangled));
}

report::MissingFence reported_fence(const SourcePlace& place, const ptx::Fence& fence,
                                    std::size_t runs) {
  std::set<std::string> kernels;
  for (const ptx::FencePlace& access : place.accesses) {
    kernels.insert(access.kernels.begin(), access.kernels.end());
  }
  return fence_at(place.first().at, place.first().lines, kernels, fence, runs);
}

report::MissingFence reported_fence(const ptx::OwnFence& own, std::size_t runs) {
  return fence_at(own.at, own.lines, {own.kernels.begin(), own.kernels.end()}, own.fence, runs);
}

}  // namespace barracuda::weak_memory
