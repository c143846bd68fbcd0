// JSON for reports and for the program's own files. The class hides the library behind it, which
// takes seconds to compile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace gpufilter {

// A value is not what its reader expects: "'pixels' is missing".
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One value. Members of an object keep the order in which they were added; if a name repeats, the
// last member is used. Texts are bytes: those that are not UTF-8 are replaced where they are
// written.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();  // null
  Json(std::nullptr_t) : Json() {}
  Json(bool value);
  Json(std::int64_t value);
  Json(std::uint64_t value);
  Json(double value);  // infinite and NaN are written as null
  Json(const char* value);
  Json(std::string_view value);
  Json(std::string value);
  Json(const void*) = delete;  // would be true

  template <std::integral Number>
  Json(Number value)
      : Json(static_cast<
             std::conditional_t<std::signed_integral<Number>, std::int64_t, std::uint64_t>>(
            value)) {}

  // An object: Json{{"width", 3}, {"height", 4}}.
  Json(std::initializer_list<Member> members);

  template <typename Value>
  Json(const std::vector<Value>& values) : Json(std::span<const Value>(values)) {}
  template <typename Value, std::size_t size>
  Json(const std::array<Value, size>& values) : Json(std::span<const Value>(values)) {}
  template <typename Value>
  Json(std::span<const Value> values) : Json(array()) {
    for (const Value& value : values)
      push_back(value);
  }
  template <typename Value, typename Order>
  Json(const std::map<std::string, Value, Order>& members) : Json(object()) {
    for (const auto& [name, value] : members)
      add(name, value);
  }

  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  // The value in a text; nothing if it is not JSON or nested more than 64 deep.
  [[nodiscard]] static std::optional<Json> parse(std::string_view text);

  [[nodiscard]] std::string on_one_line() const;
  [[nodiscard]] std::string indented(int spaces) const;

  // The member of this name, added as null if there is none. null becomes an object.
  Json& operator[](std::string_view name);
  // Adds members of another object.
  void append(const Json& members);
  // null becomes an array.
  void push_back(Json value);

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_string() const;
  // nullptr if there is none, or this is not an object.
  [[nodiscard]] const Json* find(std::string_view name) const;

  // The functions below throw JsonError if the value has another type.
  [[nodiscard]] const Json& at(std::string_view name) const;
  [[nodiscard]] const Array& items() const;
  [[nodiscard]] const Object& members() const;
  [[nodiscard]] Object& members();
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::size_t count() const;  // a whole number from 0

  friend bool operator==(const Json& a, const Json& b);

 private:
  friend class JsonReader;
  friend class JsonWriter;

  void add(std::string name, Json value);

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

struct Json::Member {
  std::string name;
  Json value;
  bool operator==(const Member&) const = default;
};

}  // namespace gpufilter
