#include "preload/graph_book.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/assert.h"

namespace barracuda::preload {

OwnedParameters::OwnedParameters(const KernelNodeParameters& parameters, const ptx::Kernel& kernel)
    : parameters_(parameters) {
  ASSERT(kernel.instrumented &&
         std::ranges::all_of(kernel.parameters, [&](const ptx::ParameterPlace& parameter) {
           return parameter.offset + parameter.size <= kernel.hidden_parameter_offset;
         }));
  buffer_.resize(kernel.hidden_parameter_offset);
  const session::LaunchArguments arguments(kernel, parameters.kernelParams, parameters.extra,
                                           wire::HiddenArgument{});
  const void* packed = arguments.packed();
  if (packed != nullptr) {
    std::memcpy(buffer_.data(), packed, buffer_.size());
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ptx::ParameterPlace& parameter = kernel.parameters[i];
    offsets_.push_back(parameter.offset);
    if (packed == nullptr && parameters.kernelParams != nullptr) {
      std::memcpy(buffer_.data() + parameter.offset, parameters.kernelParams[i], parameter.size);
    }
  }
}

KernelNodeParameters OwnedParameters::with(const wire::HiddenArgument& hidden,
                                           std::uint32_t shared_end) {
  hidden_ = hidden;
  shared_end_ = shared_end;
  pointers_.clear();
  for (const std::size_t offset : offsets_) {
    pointers_.push_back(buffer_.data() + offset);
  }
  pointers_.push_back(&hidden_);
  KernelNodeParameters parameters = parameters_;
  parameters.kernelParams = pointers_.data();
  parameters.extra = nullptr;
  parameters.sharedMemBytes = std::max(parameters.sharedMemBytes, shared_end);
  return parameters;
}

bool OwnedParameters::has(const wire::HiddenArgument& hidden, std::uint32_t shared_end) const {
  static_assert(std::has_unique_object_representations_v<wire::HiddenArgument>);
  return std::memcmp(&hidden_, &hidden, sizeof hidden) == 0 && shared_end_ == shared_end;
}

bool GraphPlan::is_valid() const {
  if (nodes.size() != kernels.size()) {
    return false;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const session::GraphKernel& kernel = kernels[i];
    if (nodes[i].first_inside > i || kernel.is_checked != nodes[i].parameters.has_value() ||
        (kernel.is_checked && (kernel.kernel == nullptr || !kernel.kernel->instrumented())) ||
        std::ranges::any_of(kernel.dependencies, [i](std::size_t each) { return each >= i; })) {
      return false;
    }
  }
  return true;
}

void GraphBook::add(CUgraphExec executable, std::shared_ptr<GraphPlan> plan) {
  ASSERT(plan != nullptr && plan->number == 0 && plan->is_valid());
  const std::lock_guard lock(mutex_);
  plan->number = ++last_number_;
  plans_[executable] = std::move(plan);
  DEBUG_ASSERT(is_valid());
}

std::shared_ptr<GraphPlan> GraphBook::find(CUgraphExec executable) {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(executable);
  return found == plans_.end() ? nullptr : found->second;
}

std::vector<std::pair<CUgraphExec, std::shared_ptr<GraphPlan>>> GraphBook::all() {
  const std::lock_guard lock(mutex_);
  return {plans_.begin(), plans_.end()};
}

bool GraphBook::is_needed(CUgraph graph) const {
  return std::ranges::any_of(plans_,
                             [&](const auto& entry) { return entry.second->graph == graph; });
}

bool GraphBook::is_valid() const {
  return std::ranges::all_of(plans_, [this](const auto& entry) {
    return entry.second != nullptr && entry.second->number != 0 &&
           entry.second->number <= last_number_;
  });
}

bool GraphBook::defers_destruction(CUgraph graph) {
  const std::lock_guard lock(mutex_);
  return is_needed(graph) && deferred_.insert(graph).second;
}

CUgraph GraphBook::remove(CUgraphExec executable) {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(executable);
  if (found == plans_.end()) {
    return nullptr;
  }
  const CUgraph graph = found->second->graph;
  plans_.erase(found);
  const bool is_last = !is_needed(graph) && deferred_.erase(graph) != 0;
  DEBUG_ASSERT(is_valid());
  return is_last ? graph : nullptr;
}

}  // namespace barracuda::preload
