// What `barracuda doctor` has to say, as data, and the page that is made of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace barracuda::cli {

// A note costs something, or is to be known; an obstacle leaves kernels unchecked, or no program
// running.
enum class Standing : std::uint8_t { kGood, kNote, kObstacle };

struct Fact {
  Standing standing = Standing::kGood;
  std::string text;
  std::string cure;  // empty: there is nothing to do

  friend bool operator==(const Fact&, const Fact&) = default;
};

inline Fact good(std::string text) {
  return {.standing = Standing::kGood, .text = std::move(text), .cure = ""};
}

inline Fact note(std::string text, std::string cure = "") {
  return {.standing = Standing::kNote, .text = std::move(text), .cure = std::move(cure)};
}

inline Fact obstacle(std::string text, std::string cure = "") {
  return {.standing = Standing::kObstacle, .text = std::move(text), .cure = std::move(cure)};
}

struct DoctorSection {
  std::string title;
  std::vector<Fact> facts;
};

std::size_t obstacles_of(const std::vector<DoctorSection>& sections);

// Each fact with its standing, and the cure below it; the last line is for scripts.
std::string doctor_page(const std::vector<DoctorSection>& sections);

}  // namespace barracuda::cli
