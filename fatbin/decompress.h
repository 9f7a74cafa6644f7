// Payloads in and out of their compressed form. Sizes come from the file and are not believed: what
// does not fill its declared size exactly is a Diagnostic.
#pragma once

#include "fatbin/fatbin.h"

namespace barracuda::fatbin {

// For kStored the payload is returned as it is, and `size` is not looked at.
Expected<std::string> decompress(std::span<const std::byte> payload, Compression compression,
                                 std::uint64_t size);

Expected<std::string> compress(std::string_view payload, Compression compression);

std::string_view name_of(Compression compression);

}  // namespace barracuda::fatbin
