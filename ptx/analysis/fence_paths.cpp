#include "ptx/analysis/fence_paths.h"

#include <algorithm>

#include "device_logger/scope_order.h"

namespace barracuda::ptx {

Expected<FencePaths> FencePaths::read(Program& program) {
  FencePaths paths(program);
  paths.bodies_.resize(program.functions.size());
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.function(i).has_body) {
      paths.definitions_.emplace(program.function(i).name, i);
    }
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const FunctionFacts& facts = program.functions[i];
    if (program.function(i).has_body && facts.is_instrumented && facts.is_numbered) {
      TRY(paths.bodies_[i].flow, program.flow_of(i));
      paths.read_events(i);
    }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    paths.summarise(i, order);
  }
  std::ranges::reverse(order);  // callers first
  for (const std::uint32_t function : order) {
    paths.find_behind(function);
  }
  return paths;
}

void FencePaths::read_events(std::uint32_t function) {
  Body& body = bodies_[function];
  for (const BasicBlock& block : body.flow->blocks) {
    std::vector<Event>& events = body.events.emplace_back();
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const Effect& effect = program_.effects[i];
      if (const auto fence = fence_at(program_, i)) {
        events.push_back({.kind = Event::Kind::kFence, .scope = *fence, .statement = i});
      } else if (may_touch_shared(effect)) {
        const bool is_look = effect.opcode_class == OpcodeClass::kLoad &&
                             effect.order != wire::MemoryOrder::kWeak && !effect.not_covered;
        events.push_back(
            {.kind = is_look ? Event::Kind::kLook : Event::Kind::kAccess, .statement = i});
      } else if (effect.opcode_class == OpcodeClass::kCall) {
        Event call{.kind = Event::Kind::kCall, .statement = i};
        const Operand* const callee = callee_of(program_.module.statements[i].instruction);
        const auto found = callee == nullptr || callee->kind != Operand::Kind::kSymbol
                               ? definitions_.end()
                               : definitions_.find(callee->name);
        if (found != definitions_.end()) {
          call.callee = found->second;
          bodies_[found->second].callers.push_back({.function = function, .statement = i});
        }
        events.push_back(call);
      }
    }
  }
}

const ControlFlow* FencePaths::flow_of(std::uint32_t function) const {
  return bodies_[function].flow;
}

std::span<const FencePaths::CallSite> FencePaths::callers_of(std::uint32_t function) const {
  return bodies_[function].callers;
}

std::optional<wire::Scope> FencePaths::behind(std::size_t access) const {
  const auto found = behind_.find(access);
  return found == behind_.end() ? std::nullopt : std::optional(found->second);
}

void FencePaths::summarise(std::uint32_t function, std::vector<std::uint32_t>& order) {
  Body& body = bodies_[function];
  if (body.flow == nullptr || body.is_summarised) {
    return;
  }
  body.is_summarised = true;
  for (const std::uint32_t callee : program_.functions[function].callees) {
    summarise(callee, order);
  }
  const Behind after_nothing = at_end(body, kNothing), after_start = at_end(body, kStart);
  body.after_nothing = after_nothing;
  body.after_start = after_start;
  order.push_back(function);
}

FencePaths::Behind FencePaths::after(const Event& event, Behind behind) const {
  switch (event.kind) {
    case Event::Kind::kLook:
    case Event::Kind::kAccess:
      return kNothing;
    case Event::Kind::kFence: {
      const auto fence = static_cast<Behind>(1 + static_cast<int>(event.scope));
      return behind == kStart ? fence : std::max(behind, fence);
    }
    case Event::Kind::kCall:
      break;
  }
  if (event.callee == kUnknown || bodies_[event.callee].flow == nullptr) {
    return kNothing;
  }
  const Body& callee = bodies_[event.callee];
  return behind == kNothing ? callee.after_nothing
         : behind == kStart ? callee.after_start
                            : std::max(callee.after_nothing, std::min(callee.after_start, behind));
}

FencePaths::Behind FencePaths::after(const std::vector<Event>& events, Behind behind) const {
  for (const Event& event : events) {
    behind = after(event, behind);
  }
  return behind;
}

// What lies behind the begin of each block.
std::vector<FencePaths::Behind> FencePaths::flow_through(const Body& body, Behind at_start) const {
  std::vector<Behind> behind(body.flow->blocks.size(), kNowhere);
  behind[0] = at_start;
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < behind.size(); ++i) {
      if (behind[i] == kNowhere) {
        continue;
      }
      const Behind here = after(body.events[i], behind[i]);
      for (const std::uint32_t next : body.flow->blocks[i].successors) {
        changes = changes || here < behind[next];
        behind[next] = std::min(behind[next], here);
      }
    }
  }
  return behind;
}

FencePaths::Behind FencePaths::at_end(const Body& body, Behind at_start) const {
  const std::vector<Behind> behind = flow_through(body, at_start);
  Behind least = kNowhere;
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (body.flow->blocks[i].leaves && behind[i] != kNowhere) {
      least = std::min(least, after(body.events[i], behind[i]));
    }
  }
  return least == kNowhere ? kNothing : least;
}

// A function that somebody may call whom we do not see is entered with nothing behind.
FencePaths::Behind FencePaths::enter(std::uint32_t function) const {
  if (program_.function(function).is_entry || program_.functions[function].is_address_taken ||
      bodies_[function].callers.empty()) {
    return kNothing;
  }
  Behind least = kNowhere;
  for (const CallSite& caller : bodies_[function].callers) {
    const auto found = before_call_.find(caller.statement);
    least = std::min(least, found == before_call_.end() ? kNothing : found->second);
  }
  return least;
}

void FencePaths::find_behind(std::uint32_t function) {
  const Body& body = bodies_[function];
  const std::vector<Behind> behind = flow_through(body, enter(function));
  for (std::size_t i = 0; i < behind.size(); ++i) {
    Behind here = behind[i];
    if (here == kNowhere) {
      continue;
    }
    for (const Event& event : body.events[i]) {
      if (event.kind == Event::Kind::kCall) {
        before_call_[event.statement] = here;
      } else if (event.kind != Event::Kind::kFence && here != kNothing) {
        behind_[event.statement] = static_cast<wire::Scope>(here - 1);
      }
      here = after(event, here);
    }
  }
}

std::optional<wire::Scope> FencePaths::ahead(std::uint32_t function, std::uint32_t block) const {
  Search search;
  const BasicBlock& from = bodies_[function].flow->blocks[block];
  const bool goes_on = passes(function, from.successors, search);
  if (goes_on || from.leaves) {
    go_on_in_callers(function, search);
  }
  return search.widest;
}

bool FencePaths::passes(const Event& event, Search& search) const {
  if (event.kind == Event::Kind::kLook) {
    return true;
  }
  if (event.kind == Event::Kind::kFence) {
    search.widest = wider(search.widest.value_or(wire::Scope::kCta), event.scope);
  }
  if (event.kind != Event::Kind::kCall || event.callee == kUnknown ||
      bodies_[event.callee].flow == nullptr || search.depth >= kDeepest ||
      ++search.looked_at > kMostLookedAt) {
    return false;
  }
  ++search.depth;
  const bool returns = passes(event.callee, {0}, search);
  --search.depth;
  return returns;
}

bool FencePaths::passes(std::uint32_t function, std::vector<std::uint32_t> blocks,
                        Search& search) const {
  const Body& body = bodies_[function];
  std::vector<bool> seen(body.flow->blocks.size());
  bool reaches_end = false;
  while (!blocks.empty()) {
    const std::uint32_t block = blocks.back();
    blocks.pop_back();
    if (seen[block]) {
      continue;
    }
    seen[block] = true;
    if (std::ranges::all_of(body.events[block],
                            [&](const Event& event) { return passes(event, search); })) {
      const BasicBlock& passed = body.flow->blocks[block];
      reaches_end = reaches_end || passed.leaves;
      blocks.insert(blocks.end(), passed.successors.begin(), passed.successors.end());
    }
  }
  return reaches_end;
}

void FencePaths::go_on_in_callers(std::uint32_t function, Search& search) const {
  for (const CallSite& caller : bodies_[function].callers) {
    if (std::ranges::find(search.returned_to, caller.statement) != search.returned_to.end()) {
      continue;
    }
    search.returned_to.push_back(caller.statement);
    const Body& body = bodies_[caller.function];
    const std::uint32_t block = body.flow->block_of(caller.statement);
    const bool leaves_block = std::ranges::all_of(body.events[block], [&](const Event& event) {
      return event.statement <= caller.statement || passes(event, search);
    });
    if (!leaves_block) {
      continue;
    }
    const BasicBlock& from = body.flow->blocks[block];
    if (passes(caller.function, from.successors, search) || from.leaves) {
      go_on_in_callers(caller.function, search);
    }
  }
}

}  // namespace barracuda::ptx
