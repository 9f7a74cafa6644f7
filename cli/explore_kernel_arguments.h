// The flags of `barracuda explore` that are for kernels.
#pragma once

#include "cli/explore_kernel.h"

namespace CLI {
class App;
}  // namespace CLI

namespace barracuda::cli {

// `into` must live as long as the application.
void declare_explore_kernel(CLI::App& explore, ExploredKernel& into);

}  // namespace barracuda::cli
