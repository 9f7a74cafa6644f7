// Litmus tests, and parts of them, as text: what litmus_reader.h reads.
#pragma once

#include <string>
#include <string_view>

#include "weak_memory/memory_model/litmus_test.h"

namespace barracuda::memory_model {

// As PTX spells them.
std::string_view name_of(Scope scope);
std::string_view name_of(Order order);

// The whole file.
std::string litmus_text(const LitmusTest& test);
std::string instruction_text(const LitmusTest& test, std::size_t thread,
                             const Instruction& instruction);
std::string condition_text(const LitmusTest& test, const Condition& condition);
// With its quantifier.
std::string question_text(const LitmusTest& test);
const std::string& location_name(const LitmusTest& test, std::uint32_t location);
std::string term_text(const LitmusTest& test, const Term& term);

}  // namespace barracuda::memory_model
