#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "weak_memory/memory_model/kernel_reader.h"

namespace barracuda::memory_model {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const ptx::LiteralKernel& kernel,
         std::vector<ptx::LiteralElement>& named)
      : text_(text), kernel_(kernel), named_(named) {}

  Expected<Condition> run() {
    TRY(Condition condition, any_of());
    skip_blanks();
    if (at_ != text_.size()) {
      return wrong("'&&', '||' or the end is expected");
    }
    return condition;
  }

 private:
  static constexpr std::uint32_t kDeepest = 100;

  [[nodiscard]] tl::unexpected<Diagnostic> wrong(const std::string& message) const {
    return unexpected({.message = fmt::format("'{}', column {}: {}", text_, at_ + 1, message)});
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }

  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) {
      return false;
    }
    at_ += sign.size();
    return true;
  }

  static Condition joined(Condition::Kind kind, std::vector<Condition> parts) {
    if (parts.size() == 1) {
      return std::move(parts.front());
    }
    return {.kind = kind, .parts = std::move(parts), .left = {}, .right = {}};
  }

  Expected<Condition> any_of() {
    std::vector<Condition> parts;
    do {
      TRY(Condition part, all_of());
      parts.push_back(std::move(part));
    } while (take("||"));
    return joined(Condition::Kind::kOr, std::move(parts));
  }

  Expected<Condition> all_of() {
    std::vector<Condition> parts;
    do {
      TRY(Condition part, one());
      parts.push_back(std::move(part));
    } while (take("&&"));
    return joined(Condition::Kind::kAnd, std::move(parts));
  }

  Expected<Condition> one() {
    if (++depth_ > kDeepest) {
      return wrong("too many brackets");
    }
    skip_blanks();
    if (!text_.substr(at_).starts_with("!=") && take("!")) {
      TRY(Condition part, one());
      --depth_;
      return Condition{
          .kind = Condition::Kind::kNot, .parts = {std::move(part)}, .left = {}, .right = {}};
    }
    if (take("(")) {
      TRY(Condition inner, any_of());
      if (!take(")")) {
        return wrong("')' is missing");
      }
      --depth_;
      return inner;
    }
    --depth_;
    return comparison();
  }

  Expected<Condition> comparison() {
    Condition made;
    TRY(made.left, term());
    if (take("==")) {
      made.kind = Condition::Kind::kEqual;
    } else if (take("!=")) {
      made.kind = Condition::Kind::kNotEqual;
    } else {
      return wrong("'==' or '!=' is expected");
    }
    TRY(made.right, term());
    // A number is what the memory beside it holds of it.
    for (auto [one, other] : {std::pair(&made.left, &made.right), {&made.right, &made.left}}) {
      if (one->kind == Term::Kind::kConstant && other->kind == Term::Kind::kLocation) {
        const std::uint32_t bits = named_[other->number].bytes * 8;
        const std::uint64_t shifted = bits >= 64 ? one->constant : one->constant << (64 - bits);
        one->constant =
            bits >= 64
                ? shifted
                : static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) >> (64 - bits));
      }
    }
    return made;
  }

  std::optional<std::uint64_t> number() {
    skip_blanks();
    const bool is_negative = take("-");
    const bool is_hexadecimal = text_.substr(at_).starts_with("0x");
    const char* const begin = text_.data() + at_ + (is_hexadecimal ? 2 : 0);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(begin, text_.data() + text_.size(), value, is_hexadecimal ? 16 : 10);
    if (error != std::errc()) {
      at_ -= is_negative ? 1 : 0;
      return std::nullopt;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return is_negative ? ~value + 1 : value;
  }

  Expected<Term> term() {
    if (const auto value = number()) {
      return Term{.kind = Term::Kind::kConstant, .constant = *value};
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == ':')) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name.empty()) {
      return wrong("a number or a name is expected");
    }
    std::uint64_t index = 0;
    if (take("[")) {
      const auto given = number();
      if (!given || !take("]")) {
        return wrong("an index as in out[0] is expected");
      }
      index = *given;
    }
    const auto element = kernel_.element(name, index);
    if (!element) {
      at_ = begin;
      return wrong(fmt::format("the kernel has no {}[{}]", name, index));
    }
    named_.push_back(*element);
    return Term{.kind = Term::Kind::kLocation,
                .number = static_cast<std::uint32_t>(named_.size() - 1)};
  }

  std::string_view text_;
  const ptx::LiteralKernel& kernel_;
  std::vector<ptx::LiteralElement>& named_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0;
};

}  // namespace

Expected<Condition> read_kernel_condition(std::string_view text, const ptx::LiteralKernel& kernel,
                                          std::vector<ptx::LiteralElement>& named) {
  return Reader(text, kernel, named).run();
}

}  // namespace barracuda::memory_model
