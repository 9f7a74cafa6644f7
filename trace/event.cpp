#include "trace/event.h"

#include <array>
#include <utility>

#include "trace/event_fields.h"

namespace barracuda::trace {
namespace {

template <typename Kind, std::size_t kIndex = 0>
constexpr std::size_t index_of_kind() {
  if constexpr (std::is_same_v<Kind, std::variant_alternative_t<kIndex, Event>>) {
    return kIndex;
  } else {
    return index_of_kind<Kind, kIndex + 1>();
  }
}

template <std::size_t kIndex>
void decode_kind(Decoder& decoder, Event& event) {
  decoder(event.emplace<kIndex>());
}

constexpr std::size_t kKinds = std::variant_size_v<Event>;

using DecodeKind = void (*)(Decoder&, Event&);

template <std::size_t... kIndices>
constexpr std::array<DecodeKind, kKinds> make_table(std::index_sequence<kIndices...>) {
  return {decode_kind<kIndices>...};
}

constexpr auto kDecodeKind = make_table(std::make_index_sequence<kKinds>());

}  // namespace

template <typename Kind>
void encode(const Kind& event, std::vector<std::byte>& to) {
  to.push_back(static_cast<std::byte>(index_of_kind<Kind>()));
  Encoder encoder(to);  // NOLINT(misc-const-correctness): a template; it counts what it writes
  encoder(event);
}

template void encode(const StreamBegin&, std::vector<std::byte>&);
template void encode(const DeviceNamed&, std::vector<std::byte>&);
template void encode(const SiteDescribed&, std::vector<std::byte>&);
template void encode(const SitesAdded&, std::vector<std::byte>&);
template void encode(const KernelNamed&, std::vector<std::byte>&);
template void encode(const LaunchDescribed&, std::vector<std::byte>&);
template void encode(const LaunchBegun&, std::vector<std::byte>&);
template void encode(const RecordApplied&, std::vector<std::byte>&);
template void encode(const LaunchEnded&, std::vector<std::byte>&);
template void encode(const MemoryForgotten&, std::vector<std::byte>&);
template void encode(const PlaceNamed&, std::vector<std::byte>&);
template void encode(const AllocationKnown&, std::vector<std::byte>&);
template void encode(const KernelCounted&, std::vector<std::byte>&);
template void encode(const InstructionNotCovered&, std::vector<std::byte>&);
template void encode(const RegisterHazardFound&, std::vector<std::byte>&);
template void encode(const MemoryErrorFound&, std::vector<std::byte>&);
template void encode(const RunEnd&, std::vector<std::byte>&);
template void encode(const RecordingFailed&, std::vector<std::byte>&);
template void encode(const ProgramEnded&, std::vector<std::byte>&);
template void encode(const CopyDescribed&, std::vector<std::byte>&);
template void encode(const CopyBegun&, std::vector<std::byte>&);
template void encode(const CopyPlaceNamed&, std::vector<std::byte>&);
template void encode(const TensorMapKnown&, std::vector<std::byte>&);

bool decode(std::span<const std::byte>& from, Event& event) {
  if (from.empty()) {
    return false;
  }
  const auto kind = static_cast<std::size_t>(from.front());
  if (kind >= kKinds) {
    return false;
  }
  Decoder decoder(from.subspan(1));  // NOLINT(misc-const-correctness): called through a table
  kDecodeKind[kind](decoder, event);
  if (!decoder.ok()) {
    return false;
  }
  from = from.last(decoder.left());
  return true;
}

}  // namespace barracuda::trace
