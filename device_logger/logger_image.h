// The device logger as PTX text, compiled when the tool was built. The functions and their
// parameters are those of logger.cu; ptx/passes calls them.
#pragma once

#include <cstdint>
#include <string_view>

namespace barracuda::wire {

// For modules of target sm_`arch`. From sm_90 on the logger knows clusters. Static storage.
std::string_view logger_ptx(std::uint32_t arch);

}  // namespace barracuda::wire
