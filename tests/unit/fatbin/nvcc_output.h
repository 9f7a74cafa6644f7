// What nvcc makes of the sources beside this file, in many ways: compiled at first use, kept in the
// build folder, and shared by test processes that run at the same time.
#pragma once

#include <string>
#include <string_view>

#include "fatbin/host_image.h"

namespace barracuda::fatbin {

// The path of a shared object (or, for names that begin with "program", an executable).
std::string nvcc_output(std::string_view name);

// Every fat binary in it, payloads included.
HostImage image_of(std::string_view name);

// The bytes of its first section of that name.
std::string section_of(std::string_view name, std::string_view section);

// Text or machine code, not a byte of which is lost: a count to compare variants by.
std::size_t count_of(const HostImage& image, EntryKind kind);

}  // namespace barracuda::fatbin
