// The command line of `barracuda explore`.
#pragma once

#include "cli/arguments.h"

namespace CLI {
class App;
}  // namespace CLI

namespace barracuda::cli {

// `into` must live as long as the application.
void declare_explore(CLI::App& explore, ExploreCommand& into);

}  // namespace barracuda::cli
