// The device logger as PTX text, compiled when the tool was built. The functions and their
// parameters are those of logger.cu; ptx/hooks calls them.
#pragma once

#include <cstdint>
#include <string_view>

namespace barracuda::wire {

// For modules of target sm_`arch`. From sm_90 on the logger knows clusters. Static storage.
std::string_view logger_ptx(std::uint32_t arch);

// What store_buffer.cu defines, likewise.
std::string_view store_buffer_ptx(std::uint32_t arch);

// What device_runtime.cu defines, for every target.
std::string_view device_runtime_ptx();

}  // namespace barracuda::wire
