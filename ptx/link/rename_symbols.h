// Replaces names in PTX text, token by token: strings, comments, modifiers and numbers stay.
#pragma once

#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

namespace barracuda::ptx {

using Renames = boost::unordered_flat_map<std::string_view, std::string>;

// `kept` is a part of `text` that is no name though it may look like one (an opcode), or empty.
std::string rename_symbols(std::string_view text, const Renames& renames, std::string_view kept);

}  // namespace barracuda::ptx
