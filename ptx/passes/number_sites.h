// Gives every planned site that is logged its id and its row of the site table.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace number_sites {
Expected<void> run(Program& program);
}  // namespace number_sites

}  // namespace barracuda::ptx
