// Loads are logged for what is made of them: the bytes that reach something, in the lanes in which
// they do. What a compiler reads beyond what the source does (a vector for three of its elements, a
// word for a byte, a value for all lanes that one of them uses) is no access
// (docs/decisions/speculated-loads.md).
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace useful_reads {

Expected<void> run(Program& program);

}  // namespace useful_reads
}  // namespace barracuda::ptx
