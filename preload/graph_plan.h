// Reads an instantiated graph's nodes from the driver.
#pragma once

#include <memory>

#include "preload/graph_book.h"
#include "session/session.h"

namespace barracuda::preload {

std::shared_ptr<GraphPlan> plan_of(session::Session& session, CUgraph graph);

// A kernel is named by either of two fields.
template <typename Parameters>
session::Handle kernel_handle(const Parameters& parameters) {
  return parameters.func != nullptr ? reinterpret_cast<session::Handle>(parameters.func)
                                    : reinterpret_cast<session::Handle>(parameters.kern);
}

}  // namespace barracuda::preload
