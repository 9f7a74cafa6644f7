// Which fences nothing separates from an access, whatever branches, barriers and calls of functions
// lie between: no other access to memory that other threads see, no call of what is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/expected.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {

class FencePaths {
 public:
  struct CallSite {
    std::uint32_t function = 0;
    std::size_t statement = 0;
  };

  // Reads the functions of kernels that synchronise.
  static Expected<FencePaths> read(Program& program);

  // Null if the function was not read.
  [[nodiscard]] const ControlFlow* flow_of(std::uint32_t function) const;
  [[nodiscard]] std::span<const CallSite> callers_of(std::uint32_t function) const;

  // The narrowest of the fences that lie on the ways to the access, if one lies on every way.
  [[nodiscard]] std::optional<wire::Scope> behind(std::size_t access) const;

  // The widest fence that some way from the end of the block meets before anything else but strong
  // loads, in its function, what that calls, or what is executed once it has returned.
  [[nodiscard]] std::optional<wire::Scope> ahead(std::uint32_t function, std::uint32_t block) const;

 private:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  // How deep calls are followed, and how many events are looked at for one poll.
  static constexpr int kDeepest = 8, kMostLookedAt = 4096;

  struct Event {
    enum class Kind : std::uint8_t { kFence, kLook, kAccess, kCall };  // kLook: a strong load
    Kind kind = Kind::kFence;
    wire::Scope scope = wire::Scope::kCta;
    std::uint32_t callee = kUnknown;
    std::size_t statement = 0;
  };

  // What lies behind a place: kNothing, a fence (its scope above kNothing), or kStart of the
  // function and nothing since. Of several ways the least counts; a place that no way leads to has
  // kNowhere.
  using Behind = std::uint8_t;
  static constexpr Behind kNothing = 0, kStart = 1 + wire::kScopeCount, kNowhere = 255;

  struct Body {
    const ControlFlow* flow = nullptr;       // null: it was not read
    std::vector<std::vector<Event>> events;  // by block
    std::vector<CallSite> callers;
    Behind after_nothing = kNothing, after_start = kNothing;  // at its end, if entered with that
    bool is_summarised = false;
  };

  explicit FencePaths(const Program& program) : program_(program) {}

  void read_events(std::uint32_t function);
  // In an order in which callees come before their callers; not so in a recursion.
  void summarise(std::uint32_t function, std::vector<std::uint32_t>& order);
  [[nodiscard]] Behind enter(std::uint32_t function) const;
  [[nodiscard]] std::vector<Behind> flow_through(const Body& body, Behind at_start) const;
  [[nodiscard]] Behind after(const Event& event, Behind behind) const;
  [[nodiscard]] Behind after(const std::vector<Event>& events, Behind behind) const;
  [[nodiscard]] Behind at_end(const Body& body, Behind at_start) const;
  void find_behind(std::uint32_t function);

  struct Search {
    std::optional<wire::Scope> widest;
    std::vector<std::size_t> returned_to;  // calls
    int depth = 0, looked_at = 0;
  };

  // Whether some way goes on behind the event, or to the function's end.
  bool passes(const Event& event, Search& search) const;
  bool passes(std::uint32_t function, std::vector<std::uint32_t> blocks, Search& search) const;
  void go_on_in_callers(std::uint32_t function, Search& search) const;

  const Program& program_;
  std::vector<Body> bodies_;  // by function
  boost::unordered_flat_map<std::string_view, std::uint32_t> definitions_;
  boost::unordered_flat_map<std::size_t, wire::Scope> behind_;  // of accesses
  boost::unordered_flat_map<std::size_t, Behind> before_call_;
};

}  // namespace barracuda::ptx
