#include "ptx/fence_places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/source_frames.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx {
namespace {

std::optional<AccessKind> kind_of(const Effect& effect) {
  if (!is_shared_access(effect) && !is_matrix_access(effect)) {
    return std::nullopt;
  }
  if (only_loads(effect)) {
    return effect.order == wire::MemoryOrder::kWeak ? AccessKind::kLoad : AccessKind::kStrongLoad;
  }
  return only_stores(effect) ? AccessKind::kStore : AccessKind::kAtomic;
}

std::vector<SourcePlace> lines_of(const std::vector<SourceFrame>& frames,
                                  const IsUserFile& is_user_file) {
  const auto is_known = [](const SourceFrame& frame) { return !frame.file.empty(); };
  auto first = std::ranges::find_if(frames, [&](const SourceFrame& frame) {
    return is_known(frame) && is_user_file(frame.file);
  });
  if (first == frames.end()) {
    first = std::ranges::find_if(frames, is_known);
  }
  std::vector<SourcePlace> lines;
  for (; first != frames.end(); ++first) {
    lines.push_back({.file = first->file, .line = first->line});
  }
  return lines;
}

class PlaceFinder {
 public:
  PlaceFinder(const Program& program, const IsUserFile& is_user_file)
      : program_(program), is_user_file_(is_user_file), frames_(program.module) {}

  std::vector<FencePlace> find() {
    for_each_instruction([this](const Statement& at) {
      if (const auto kind = kind_of(at.effect)) {
        FencePlace place{.at = at.name,
                         .place = 0,
                         .kind = *kind,
                         .space = at.effect.space,
                         .kernels = kernels_[at.function_index],
                         .lines = lines_of(frames_.at(at.index), is_user_file_),
                         .next = fence_behind(at.function, at.index)};
        place.place = number_of(place.lines);
        found_.push_back(std::move(place));
      }
    });
    return std::move(found_);
  }

  std::vector<OwnFence> find_own() {
    std::vector<OwnFence> own;
    for_each_instruction([&](const Statement& at) {
      if (at.effect.opcode_class == OpcodeClass::kFence && !at.effect.is_restricted) {
        const bool is_sc = at.effect.order == wire::MemoryOrder::kSeqCst;
        own.push_back(
            {.at = at.name,
             .fence = {.order = is_sc ? wire::MemoryOrder::kSeqCst : wire::MemoryOrder::kAcqRel,
                       .scope = at.effect.scope},
             .kernels = kernels_[at.function_index],
             .lines = lines_of(frames_.at(at.index), is_user_file_)});
      }
    });
    return own;
  }

 private:
  // An instruction, where it stands and what it does.
  struct Statement {
    StatementName name;
    std::uint32_t function_index = 0;
    const Function& function;
    std::size_t index = 0;
    const Effect& effect;
  };

  template <typename Visit>
  void for_each_instruction(const Visit& visit) {
    find_kernels();
    for (std::uint32_t f = 0; f < program_.functions.size(); ++f) {
      const Function& function = program_.function(f);
      if (!function.has_body) {
        continue;
      }
      frames_.enter(function);
      std::uint32_t ordinal = 0;
      for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
        if (program_.module.statements[i].kind == StatementKind::kInstruction) {
          visit(Statement{.name = {.function = std::string(function.name), .ordinal = ++ordinal},
                          .function_index = f,
                          .function = function,
                          .index = i,
                          .effect = program_.effects[i]});
        }
      }
    }
  }

  void find_kernels() {
    kernels_.resize(program_.functions.size());
    for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
      if (program_.function(i).is_entry) {
        for (const std::uint32_t callee : program_.functions[i].reachable) {
          kernels_[callee].emplace_back(program_.function(i).name);
        }
      }
    }
    for (std::vector<std::string>& names : kernels_) {
      std::ranges::sort(names);
    }
  }

  [[nodiscard]] std::optional<Fence> fence_behind(const Function& function, std::size_t at) const {
    std::size_t next = at + 1;
    while (next < function.body_end &&
           program_.module.statements[next].kind != StatementKind::kInstruction) {
      ++next;
    }
    const Effect& effect = program_.effects[next];
    const bool is_whole =
        effect.order == wire::MemoryOrder::kSeqCst || effect.order == wire::MemoryOrder::kAcqRel;
    // A fence that some lanes pass by is none for them.
    if (effect.opcode_class != OpcodeClass::kFence || effect.is_restricted || !is_whole ||
        !program_.module.statements[next].instruction.predicate.empty()) {
      return std::nullopt;
    }
    return Fence{.order = effect.order, .scope = effect.scope};
  }

  std::uint32_t number_of(const std::vector<SourcePlace>& lines) {
    if (lines.empty()) {
      return ++places_;
    }
    const auto [known, is_new] = numbers_.emplace(lines, places_ + 1);
    places_ += is_new ? 1 : 0;
    return known->second;
  }

  const Program& program_;
  const IsUserFile& is_user_file_;
  SourceFrames frames_;
  std::vector<std::vector<std::string>> kernels_;  // by function
  std::map<std::vector<SourcePlace>, std::uint32_t> numbers_;
  std::uint32_t places_ = 0;
  std::vector<FencePlace> found_;
};

// What `find` makes of the module's analysis; the module is the same afterwards.
template <typename Find>
auto in_program(Module& module, const Find& find)
    -> Expected<std::invoke_result_t<Find, const Program&>> {
  Program program;
  program.module = std::move(module);
  Expected<void> analysed = classify_statements::run(program);
  if (analysed) {
    analysed = call_graph::run(program);
  }
  std::invoke_result_t<Find, const Program&> found;
  if (analysed) {
    found = find(program);
  }
  module = std::move(program.module);
  if (!analysed) {
    return unexpected(std::move(analysed).error());
  }
  return found;
}

}  // namespace

Expected<std::vector<FencePlace>> find_fence_places(Module& module,
                                                    const IsUserFile& is_user_file) {
  return in_program(module, [&is_user_file](const Program& program) {
    return PlaceFinder(program, is_user_file).find();
  });
}

Expected<std::vector<OwnFence>> find_own_fences(Module& module, const IsUserFile& is_user_file) {
  return in_program(module, [&is_user_file](const Program& program) {
    return PlaceFinder(program, is_user_file).find_own();
  });
}

}  // namespace barracuda::ptx
