// Takes the pieces of one access through shadow memory: each is compared with the older cells of
// its bytes, what is a conflict is reported, and the cell stays where it is recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "host_detector/races/access.h"
#include "host_detector/races/racing_sites.h"

namespace barracuda::detector {

// Lanes of one instruction that agree are all compared before any of them is recorded: no store of
// theirs may hide what it replaces from the others.
enum class Pass : std::uint8_t { kCompareAndRecord, kCompare, kRecord };

class PieceCheck {
 public:
  // `global` is of the engine's global memory.
  PieceCheck(EngineState& engine, const Actor& actor, const wire::SiteInfo& site,
             ShadowMemory::Visitor& global)
      : by_{.engine = engine, .actor = actor, .site = site}, global_(global) {}

  // False if the address cannot be; then nothing is done. The piece stays until the next is taken.
  bool take(const Piece& piece, Pass pass);

  // The same of `lanes` of `operation`, each a piece by itself: `pattern` and what its address
  // says.
  bool take_lanes(const Piece& pattern, const WarpOperation& operation, std::uint32_t lanes);
  // The same of lanes that touch one word at `tagged`, and no more.
  bool take_word(const Piece& pattern, std::uint64_t tagged, std::uint32_t lanes);

 private:
  // Accesses of a site to a busy word that are kept though they race with others of that site.
  static constexpr std::uint32_t kMostOfSite = 16, kMostOfWarp = 2;

  // The next five hold `cell`, the access cut to the bytes of one history, against older ones.
  void take_history(const PlacedPiece& access, Pass pass, AccessHistory& history, const Cell& cell,
                    bool records);
  // True if it is one with some cell there.
  bool take_cells(const PlacedPiece& access, Pass pass, Cells& older, const Cell& cell,
                  bool may_merge);
  void take_members(const PlacedPiece& access, Pass pass, SharedAccessSet& shared_set,
                    const Cell& cell);
  // True if it was recorded there.
  bool take_set(const PlacedPiece& access, Pass pass, SharedAccessSet& shared_set, const Cell& cell,
                bool records);

  // What the next two know of all lanes.
  struct Scattered {
    Piece pattern;
    std::optional<WordLists::Alike> alike;  // nothing: all are taken as pieces
    std::uint32_t width = 0;
    Piece taken;  // the last that was taken as a piece

    [[nodiscard]] Piece piece(std::uint64_t tagged, std::uint32_t lanes) const;
  };

  [[nodiscard]] Scattered scatter(const Piece& pattern) const;
  bool take_word(Scattered& scattered, std::uint64_t tagged, std::uint32_t lanes);
  // Where a comparison of the whole cells leaves no doubt.
  [[nodiscard]] Meeting meet(const PlacedPiece& access, const Cell& older) const;
  // Leaves of `older` what is to be kept. True if all of it came before the access.
  bool take_cell(const PlacedPiece& access, Pass pass, Cell& older, const Cell& cell);
  [[nodiscard]] bool is_one_too_many(Pass pass, const AccessHistory& history,
                                     const Cell& cell) const;

  Accessor by_;
  // Nothing for an address that cannot be.
  [[nodiscard]] std::optional<MemoryPlace> find_place(std::uint64_t tagged) const;
  // Memory of a block that has ended: then that is reported.
  [[nodiscard]] bool is_of_ended(const Piece& piece, std::uint64_t tagged,
                                 std::uint32_t lanes) const;
  [[nodiscard]] Block& block_of(const MemoryPlace& place);

  ShadowMemory::Visitor& global_;
  RacingSites racing_sites_;
};

}  // namespace barracuda::detector
