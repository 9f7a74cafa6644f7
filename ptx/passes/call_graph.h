// Who calls whom, which functions synchronise, and so which are numbered. Needs the effects.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace call_graph {
Expected<void> run(Program& program);
}  // namespace call_graph

}  // namespace barracuda::ptx
