#include "ptx/fence_text.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/assert.h"
#include "base/number_text.h"
#include "base/percent_code.h"
#include "base/text_lines.h"
#include "base/text_words.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

constexpr auto kKindNames = std::to_array<std::pair<std::string_view, AccessKind>>(
    {{"load", AccessKind::kLoad},
     {"strong-load", AccessKind::kStrongLoad},
     {"store", AccessKind::kStore},
     {"atomic", AccessKind::kAtomic}});
constexpr auto kSpaceNames =
    std::to_array<std::pair<std::string_view, StateSpace>>({{"global", StateSpace::kGlobal},
                                                            {"shared", StateSpace::kShared},
                                                            {"generic", StateSpace::kGeneric}});

constexpr auto kSyncNames = std::to_array<std::pair<std::string_view, SyncKind>>(
    {{"syncwarp", SyncKind::kWarpBarrier},
     {"syncthreads", SyncKind::kBlockBarrier},
     {"cluster-sync", SyncKind::kClusterBarrier},
     {"proxy-async", SyncKind::kAsyncProxy},
     {"cp-async-wait", SyncKind::kCopies},
     {"grid-wait", SyncKind::kEarlierGrid}});
constexpr auto kAccessOrders = std::to_array<wire::MemoryOrder>(
    {wire::MemoryOrder::kWeak, wire::MemoryOrder::kVolatile, wire::MemoryOrder::kRelaxed,
     wire::MemoryOrder::kAcquire, wire::MemoryOrder::kRelease, wire::MemoryOrder::kAcqRel});

template <typename Names>
auto find_named(const Names& names, std::string_view name)
    -> std::optional<typename Names::value_type::second_type> {
  const auto found = std::ranges::find(names, name, &Names::value_type::first);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

template <typename Names>
std::string_view name_in(const Names& names, typename Names::value_type::second_type value) {
  const auto found = std::ranges::find(names, value, &Names::value_type::second);
  return found == names.end() ? std::string_view{} : found->first;
}

// What stands before the first comma, taken off with it.
std::string_view take_item(std::string_view& rest) {
  const std::string_view item = rest.substr(0, rest.find(','));
  rest.remove_prefix(std::min(item.size() + 1, rest.size()));
  return item;
}

// FILE:LINE
bool parse_lines(std::string_view text, std::vector<SourcePlace>& lines) {
  while (!text.empty()) {
    const std::string_view item = take_item(text);
    const std::size_t colon = item.rfind(':');
    if (colon == item.npos) {
      return false;
    }
    auto file = percent_decoded(item.substr(0, colon));
    const auto number = parse_number<std::uint32_t>(item.substr(colon + 1));
    if (!file || !number) {
      return false;
    }
    lines.push_back({.file = std::move(*file), .line = *number});
  }
  return true;
}

bool parse_key(std::string_view key, std::string_view value, FencePlace& place) {
  if (key == "place") {
    place.place = parse_number<std::uint32_t>(value).value_or(0);
    return place.place != 0;
  }
  if (key == "kernel") {
    while (!value.empty()) {
      place.kernels.emplace_back(take_item(value));
      if (place.kernels.back().empty()) {
        return false;
      }
    }
    return true;
  }
  if (key == "space") {
    const auto space = find_named(kSpaceNames, value);
    place.space = space.value_or(place.space);
    return space.has_value();
  }
  if (key == "op") {
    const auto kind = find_named(kKindNames, value);
    place.kind = kind.value_or(place.kind);
    return kind.has_value();
  }
  if (key == "next" || key == "fence") {
    const std::size_t dot = std::min(value.find('.'), value.size());
    const auto order = fence_order(value.substr(0, dot));
    const auto scope = fence_scope(value.substr(std::min(dot + 1, value.size())));
    if (order && scope) {
      place.next = Fence{.order = *order, .scope = *scope};
    }
    return place.next.has_value();
  }
  return (key == "at" || key == "inlined") && parse_lines(value, place.lines);
}

// A comment that is not ours, which begins with another key, describes no place.
std::optional<FencePlace> parse_place(std::string_view comment, const StatementName& at,
                                      std::string_view first_key = "place=") {
  FencePlace place;
  place.at = at;
  std::string_view word = take_word(comment);
  if (!word.starts_with(first_key)) {
    return std::nullopt;
  }
  for (; !word.empty(); word = take_word(comment)) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos || !parse_key(word.substr(0, equals), word.substr(equals + 1), place)) {
      return std::nullopt;
    }
  }
  return place;
}

Expected<bool> parse_before(std::string_view rest) {
  std::string_view word = take_word(rest);
  const bool is_before = word == "before";
  if (is_before) {
    word = take_word(rest);
  }
  if (!word.empty()) {
    return unexpected({.message = quote(word) + " stands behind a line's end"});
  }
  return is_before;
}

Expected<OrderChange> parse_change(std::string_view rest) {
  const std::string_view order_word = take_word(rest);
  const std::string_view scope_word = take_word(rest);
  const auto order = std::ranges::find_if(
      kAccessOrders, [&](wire::MemoryOrder known) { return word_of(known) == order_word; });
  const auto scope = fence_scope(scope_word);
  if (order == kAccessOrders.end() && order_word != "scope") {
    return unexpected(
        {.message = quote(order_word) + " is no order of an access, and not 'scope'"});
  }
  if (!scope) {
    return unexpected({.message = quote(scope_word) + " is no scope: cta, cluster, gpu or sys"});
  }
  if (const std::string_view word = take_word(rest); !word.empty()) {
    return unexpected({.message = quote(word) + " stands behind a line's end"});
  }
  return order == kAccessOrders.end() ? OrderChange(ChangeScope{.scope = *scope})
                                      : OrderChange(ChangeOrder{.order = *order, .scope = *scope});
}

Expected<OrderChange> parse_insertion(std::string_view rest) {
  InsertFence insert;
  const std::string_view order_word = take_word(rest);
  if (const auto sync = find_named(kSyncNames, order_word)) {
    TRY(const bool is_before, parse_before(rest));
    return OrderChange(InsertSync{.kind = *sync, .is_before = is_before});
  }
  const std::string_view scope_word = take_word(rest);
  const auto order = fence_order(order_word);
  const auto scope = fence_scope(scope_word);
  if (!order) {
    return unexpected({.message = quote(order_word) + " is no kind of a fence: sc or acq_rel"});
  }
  if (!scope) {
    return unexpected(
        {.message = quote(scope_word) + " is no scope of a fence: cta, cluster, gpu or sys"});
  }
  insert.fence = {.order = *order, .scope = *scope};
  TRY(insert.is_before, parse_before(rest));
  return OrderChange(insert);
}

Expected<FenceLine> parse_line(std::string_view line) {
  // The name has a # as well, without a blank.
  std::size_t mark = line.find('#');
  while (mark != line.npos && mark > 0 && kBlanks.find(line[mark - 1]) == kBlanks.npos) {
    mark = line.find('#', mark + 1);
  }
  std::string_view rest = line.substr(0, mark);
  const std::string_view first = take_word(rest);
  if (!first.starts_with('+') && !first.starts_with('-') && !first.starts_with('=')) {
    return unexpected({.message = quote(first) +
                                  " is no fence: +FUNCTION#STATEMENT sc gpu puts one in, "
                                  "-FUNCTION#STATEMENT takes one out, =FUNCTION#STATEMENT changes "
                                  "order or scope"});
  }
  FenceLine made;
  TRY(made.edit.at, parse_statement_name(first.substr(1)));
  if (first.front() == '-') {
    made.edit.change = RemoveFence{};
    if (const std::string_view word = take_word(rest); !word.empty()) {
      return unexpected({.message = quote(word) + " stands behind a line's end"});
    }
  } else if (first.front() == '=') {
    TRY(made.edit.change, parse_change(rest));
  } else {
    TRY(made.edit.change, parse_insertion(rest));
  }
  if (mark != line.npos) {
    made.place = parse_place(line.substr(mark + 1), made.edit.at);
  }
  return made;
}

std::string text_of(std::span<const SourcePlace> lines) {
  std::string text;
  for (const SourcePlace& line : lines) {
    text += (text.empty() ? "" : ",") + percent_encoded(line.file, ",") + ":" +
            std::to_string(line.line);
  }
  return text;
}

std::string text_of(const Fence& fence) {
  return std::string(word_of(fence.order)) + "." + std::string(word_of(fence.scope));
}

// " kernel=f,g"
std::string text_of(const std::vector<std::string>& kernels) {
  std::string text = " kernel=";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += (i == 0 ? "" : ",") + kernels[i];
  }
  return text;
}

// " at=FILE:LINE inlined=FILE:LINE,FILE:LINE", as much as is known.
std::string chain_text(const std::vector<SourcePlace>& lines) {
  std::string text;
  if (!lines.empty()) {
    text += " at=" + text_of(std::span(lines).first(1));
  }
  if (lines.size() > 1) {
    text += " inlined=" + text_of(std::span(lines).subspan(1));
  }
  return text;
}

}  // namespace

std::optional<wire::MemoryOrder> fence_order(std::string_view word) {
  const auto order = order_of(find_modifier(word));
  const bool is_one = order == wire::MemoryOrder::kSeqCst || order == wire::MemoryOrder::kAcqRel;
  return is_one ? order : std::nullopt;
}

std::optional<wire::Scope> fence_scope(std::string_view word) {
  const auto scope = scope_of(find_modifier(word));
  return scope && word == word_of(*scope) ? scope : std::nullopt;
}

Expected<std::vector<FenceLine>> parse_fences(std::string_view text, const std::string& file) {
  std::vector<FenceLine> fences;
  TextLines lines(text);
  while (const auto next = lines.next()) {
    std::string_view line = *next;
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    auto fence = parse_line(line);
    if (!fence) {
      return unexpected(
          {.message = std::move(fence).error().message, .file = file, .line = lines.number()});
    }
    fence->line = lines.number();
    fences.push_back(std::move(*fence));
  }
  return fences;
}

std::string edit_line(const OrderEdit& edit) {
  const std::string at = to_string(edit.at);
  const auto end = [](bool is_before) { return is_before ? " before\n" : "\n"; };
  if (const auto* const fence = std::get_if<InsertFence>(&edit.change)) {
    return "+" + at + " " + std::string(word_of(fence->fence.order)) + " " +
           std::string(word_of(fence->fence.scope)) + end(fence->is_before);
  }
  if (const auto* const sync = std::get_if<InsertSync>(&edit.change)) {
    return "+" + at + " " + std::string(name_in(kSyncNames, sync->kind)) + end(sync->is_before);
  }
  if (const auto* const scope = std::get_if<ChangeScope>(&edit.change)) {
    return "=" + at + " scope " + std::string(word_of(scope->scope)) + "\n";
  }
  if (const auto* const order = std::get_if<ChangeOrder>(&edit.change)) {
    return "=" + at + " " + std::string(word_of(order->order)) + " " +
           std::string(word_of(order->scope)) + "\n";
  }
  ASSERT(std::holds_alternative<RemoveFence>(edit.change));
  return "-" + at + "\n";
}

std::string fence_line(const FencePlace& place, const Fence& fence) {
  std::string text = "+" + to_string(place.at) + " " + std::string(word_of(fence.order)) + " " +
                     std::string(word_of(fence.scope)) +
                     "  # place=" + std::to_string(place.place) + text_of(place.kernels);
  text += " space=" + std::string(name_in(kSpaceNames, place.space)) +
          " op=" + std::string(name_in(kKindNames, place.kind));
  if (place.next) {
    text += " next=" + text_of(*place.next);
  }
  return text + chain_text(place.lines) + "\n";
}

std::string own_fence_line(const OwnFence& own) {
  return "# -" + to_string(own.at) + "  # fence=" + text_of(own.fence) + text_of(own.kernels) +
         chain_text(own.lines) + "\n";
}

std::vector<OwnFence> parse_own_fences(std::string_view text) {
  std::vector<OwnFence> all;
  TextLines lines(text);
  while (const auto next = lines.next()) {
    std::string_view line = *next;
    if (take_word(line) != "#") {
      continue;
    }
    const std::string_view name = take_word(line);
    if (!name.starts_with('-') || take_word(line) != "#") {
      continue;
    }
    const auto at = parse_statement_name(name.substr(1));
    auto place = at ? parse_place(line, *at, "fence=") : std::nullopt;
    if (place && place->next) {
      all.push_back({.at = *at,
                     .fence = *place->next,
                     .kernels = std::move(place->kernels),
                     .lines = std::move(place->lines)});
    }
  }
  return all;
}

Fence default_fence(const FencePlace& place) {
  return {.order = wire::MemoryOrder::kSeqCst,
          .scope = place.space == StateSpace::kShared ? wire::Scope::kCta : wire::Scope::kGpu};
}

}  // namespace barracuda::ptx
