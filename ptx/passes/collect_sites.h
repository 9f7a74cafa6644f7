// Plans a site for every instruction that is logged; names what could touch memory and is not.
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace collect_sites {
Expected<void> run(Program& program);
}  // namespace collect_sites

}  // namespace barracuda::ptx
