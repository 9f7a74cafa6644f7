// The option table as a page of documentation (docs/OPTIONS.md).
#pragma once

#include <string>

namespace barracuda::cli {

std::string options_as_markdown();

}  // namespace barracuda::cli
