// The words of a site for golden files, as PTX has them.
#pragma once

#include <string_view>

#include "device_logger/site_info.h"

namespace barracuda::ptx {

std::string_view name_of(wire::Operation operation);
std::string_view name_of(wire::Proxy proxy);
std::string_view name_of(wire::Asynchrony asynchrony);
std::string_view name_of(wire::FenceScope scope);

}  // namespace barracuda::ptx
