#include "emulator/decode/program_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/align.h"
#include "base/assert.h"
#include "emulator/decode/weak_effect.h"
#include "ptx/abi.h"
#include "ptx/analysis/shared_layout.h"

namespace barracuda::emulator {

Function* ProgramBuilder::function(const ptx::Function& source) {
  const auto found = known_.find(&source);
  if (found != known_.end()) {
    return found->second;
  }
  auto decoded = std::make_unique<Function>();
  decoded->name = source.name;
  decoded->index = static_cast<std::uint32_t>(program_.functions.size());
  decoded->is_entry = source.is_entry;
  decoded->is_tool = source.name.starts_with(kToolPrefix);
  Function* result = decoded.get();
  program_.functions.push_back(std::move(decoded));
  known_.emplace(&source, result);
  pending_.emplace_back(&source, result);
  return result;
}

void ProgramBuilder::needs_addressed_functions() {
  if (indirect_) {
    return;
  }
  indirect_ = true;
  for (const ptx::Function* source : module_.addressed_functions()) {
    program_.addresses.emplace_back(module_.address_of(*source), function(*source));
  }
  std::ranges::sort(program_.addresses);
}

std::uint32_t ProgramBuilder::shared_offset(const ptx::Variable& variable) {
  if (!shared_.contains(&variable)) {
    lay_out_shared(variable);
  }
  return shared_.at(&variable);
}

// Of a function that the entry calls. As NVIDIA's assembler does: those that it declares in the
// order in which it does, which programs count on where they align too little.
void ProgramBuilder::lay_out_shared(const ptx::Variable& wanted) {
  std::vector<const ptx::Variable*> together;
  for (std::size_t i = decoding_->body_begin; i < decoding_->body_end; ++i) {
    for (const ptx::Variable& own : module_.module().statements[i].variables) {
      if (own.space == ptx::StateSpace::kShared) {
        together.push_back(&own);
      }
    }
  }
  if (std::ranges::find(together, &wanted) == together.end()) {
    together = {&wanted};
  }
  for (const ptx::Variable* const variable : together) {
    const std::uint32_t offset =
        align_up(program_.static_shared_bytes, ptx::alignment_of(*variable));
    program_.static_shared_bytes = offset + static_cast<std::uint32_t>(variable->size());
    shared_.emplace(variable, offset);
  }
}

void ProgramBuilder::add_dynamic_offset(Function& function, std::uint32_t constant,
                                        std::uint32_t bytes, std::uint32_t alignment) {
  ASSERT(bytes <= sizeof(std::uint64_t) && std::has_single_bit(alignment));
  dynamic_alignment_ = std::max(dynamic_alignment_, alignment);
  patches_.push_back(Patch{.function = &function, .constant = constant, .bytes = bytes});
}

void ProgramBuilder::lay_out_dynamic_shared() {
  if (patches_.empty()) {
    return;
  }
  program_.static_shared_bytes = align_up(program_.static_shared_bytes, dynamic_alignment_);
  const std::uint64_t offset = program_.static_shared_bytes;
  for (const Patch& patch : patches_) {
    std::byte* lanes = patch.function->constants.get() + patch.constant;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t value = 0;
      std::memcpy(&value, lanes + lane * patch.bytes, patch.bytes);
      value += offset;
      std::memcpy(lanes + lane * patch.bytes, &value, patch.bytes);
    }
  }
}

void ProgramBuilder::build(const ptx::Function& entry) {
  ASSERT(entry.is_entry && program_.functions.empty());
  program_.kernel = entry.name;
  program_.texts = &module_.texts();
  program_.const_ranges = module_.const_ranges();
  for (const ptx::SharedPlace& place : ptx::shared_layout(module_.module(), entry, 0)) {
    shared_.emplace(place.variable, static_cast<std::uint32_t>(place.offset));
    program_.static_shared_bytes = static_cast<std::uint32_t>(place.end());
  }
  function(entry);
  while (!pending_.empty()) {
    const auto [source, decoded] = pending_.back();
    pending_.pop_back();
    decoding_ = source;
    decode_function(*this, *source, *decoded);
  }
  lay_out_dynamic_shared();
  program_.parameter_bytes = static_cast<std::uint32_t>(ptx::parameter_layout(entry).bytes);
}

std::unique_ptr<Program> decode_program(const LoadedModule& module, const ptx::Function& entry) {
  auto program = std::make_unique<Program>();
  ProgramBuilder(module, *program).build(entry);
  ASSERT(program->functions.front()->is_entry);
  DEBUG_ASSERT(program->is_valid());
  return program;
}

}  // namespace barracuda::emulator
