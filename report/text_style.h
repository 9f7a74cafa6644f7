// How the text report is laid out, as the options say.
#pragma once

#include <cstdint>

#include "base/options.h"
#include "report/text_writer.h"

namespace barracuda::report {

enum class TextTarget : std::uint8_t { kStandardError, kFile };

// On standard error it has the terminal's colours and width, where that is one.
TextStyle text_style(const Options& options, TextTarget target);

}  // namespace barracuda::report
