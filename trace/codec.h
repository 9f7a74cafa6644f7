// Values as bytes: numbers in base 128, texts and lists behind their length. One list of fields per
// struct (`travel`, event_fields.h) serves both directions. The decoder trusts nothing: it never
// reads behind the end, allocates only for what is really there, and refuses enumerators and flags
// that do not exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace barracuda::trace {

using Bytes = std::vector<std::byte>;

// An enumeration travels as its number; `last` is its greatest.
template <typename Enum>
struct Choice {
  Enum& value;
  std::remove_const_t<Enum> last;
};

template <typename Enum>
Choice(Enum&, std::remove_const_t<Enum>) -> Choice<Enum>;

class Encoder {
 public:
  explicit Encoder(Bytes& to) : to_(to) {}

  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }

 private:
  void put_number(std::uint64_t number) {
    constexpr std::uint64_t kLow = 0x7f;
    for (; number > kLow; number >>= 7) {
      to_.push_back(static_cast<std::byte>(number | (kLow + 1)));
    }
    to_.push_back(static_cast<std::byte>(number));
  }

  void put_raw(const void* bytes, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(bytes);
    to_.insert(to_.end(), first, first + count);
  }

  template <typename Number>
    requires std::is_integral_v<Number>
  void put(Number number) {
    static_assert(std::is_unsigned_v<Number>, "a negative number would travel as a huge one");
    put_number(number);
  }

  template <typename Id>
    requires std::is_enum_v<Id>
  void put(Id id) {
    put_number(static_cast<std::uint64_t>(id));
  }

  template <typename Enum>
  void put(const Choice<Enum>& choice) {
    put_number(static_cast<std::uint64_t>(choice.value));
  }

  void put(const std::string& text) {
    put_number(text.size());
    put_raw(text.data(), text.size());
  }

  void put(std::span<const std::byte> bytes) {
    put_number(bytes.size());
    put_raw(bytes.data(), bytes.size());
  }

  template <typename Element>
  void put(const std::vector<Element>& elements) {
    put_number(elements.size());
    for (const Element& element : elements) {
      put(element);
    }
  }

  template <typename Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) {
      put(*value);
    }
  }

  template <typename Struct>
    requires(std::is_class_v<Struct>)
  void put(const Struct& value) {
    travel(*this, value);
  }

  Bytes& to_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> from) : rest_(from) {}

  // False once something could not be read; what is read then means nothing.
  [[nodiscard]] bool ok() const { return ok_; }

  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  template <typename... Fields>
  void operator()(Fields&&... fields) {
    (take(fields), ...);
  }

 private:
  std::uint64_t take_number(std::uint64_t greatest) {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      const std::uint64_t part = (byte & 0x7f) << shift;
      if (part >> shift != (byte & 0x7f)) {
        break;
      }
      number |= part;
      if (byte < 0x80) {
        ok_ = ok_ && number <= greatest;
        return ok_ ? number : 0;
      }
    }
    ok_ = false;
    return 0;
  }

  template <typename Number>
    requires std::is_integral_v<Number>
  void take(Number& number) {
    number = static_cast<Number>(take_number(std::numeric_limits<Number>::max()));
  }

  template <typename Id>
    requires std::is_enum_v<Id>
  void take(Id& id) {
    id = static_cast<Id>(take_number(std::numeric_limits<std::underlying_type_t<Id>>::max()));
  }

  template <typename Enum>
  void take(Choice<Enum>& choice) {
    choice.value = static_cast<Enum>(take_number(static_cast<std::uint64_t>(choice.last)));
  }

  std::span<const std::byte> take_bytes() {
    const std::uint64_t count = take_number(rest_.size());
    ok_ = ok_ && count <= rest_.size();  // fewer now: the number itself has been taken
    const auto bytes = rest_.first(static_cast<std::size_t>(ok_ ? count : 0));
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }

  void take(std::string& text) {
    const auto bytes = take_bytes();
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  // Points into what is decoded.
  void take(std::span<const std::byte>& bytes) { bytes = take_bytes(); }

  // The count is only believed as far as there are elements.
  template <typename Element>
  void take(std::vector<Element>& elements) {
    elements.clear();
    for (std::uint64_t left = take_number(rest_.size()); ok_ && left > 0; --left) {
      take(elements.emplace_back());
    }
  }

  template <typename Value>
  void take(std::optional<Value>& value) {
    bool has_value = false;
    take(has_value);
    value.reset();
    if (has_value) {
      take(value.emplace());
    }
  }

  template <typename Struct>
    requires(std::is_class_v<Struct>)
  void take(Struct& value) {
    travel(*this, value);
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace barracuda::trace
