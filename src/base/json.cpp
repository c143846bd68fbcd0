#include "base/json.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/format.hpp"

namespace gpufilter {
namespace {

using Foreign = nlohmann::ordered_json;

constexpr std::size_t max_depth = 64;
constexpr int one_line = -1;

template <typename Value, typename Variant>
auto& value_as(Variant& value, const char* expected) {
  if (auto* found = std::get_if<Value>(&value)) return *found;
  throw JsonError(formatted("a value is not {}", expected));
}

template <typename Object>
auto last_named(Object& members, std::string_view name) {
  return std::find_if(members.rbegin(), members.rend(),
                      [name](const auto& member) { return member.name == name; });
}

}  // namespace

// Builds a value from the events of a parser.
class JsonReader final : public nlohmann::json_sax<Foreign> {
 public:
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override { return put(std::uint64_t{value}); }
  bool number_float(number_float_t value, const string_t& /*token*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*members*/) override { return open(Json::object()); }
  bool key(string_t& name) override {
    open_.back()->add(std::move(name), nullptr);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*items*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Foreign::exception& /*error*/) override {
    return false;
  }

 private:
  // The destination of the next value. Open values do not move, because only the innermost one
  // grows.
  Json& place() {
    if (open_.empty()) return root_;
    if (auto* array = std::get_if<Json::Array>(&open_.back()->value_)) return array->emplace_back();
    return open_.back()->members().back().value;
  }
  bool put(Json value) {
    place() = std::move(value);
    return true;
  }
  bool open(Json value) {
    if (open_.size() == max_depth) return false;
    Json& opened = place();
    opened = std::move(value);
    open_.push_back(&opened);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
};

class JsonWriter {
 public:
  static std::string text(const Json& json, int indent) {
    return foreign(json).dump(indent, ' ', false, Foreign::error_handler_t::replace);
  }

 private:
  static Foreign foreign(const Json& json) {
    return std::visit([](const auto& value) { return converted(value); }, json.value_);
  }
  template <typename Value>
  static Foreign converted(const Value& value) {
    return value;
  }
  static Foreign converted(const Json::Array& values) {
    Foreign array = Foreign::array();
    for (const Json& value : values)
      array.push_back(foreign(value));
    return array;
  }
  static Foreign converted(const Json::Object& members) {
    Foreign object = Foreign::object();
    for (const auto& [name, value] : members)
      object[name] = foreign(value);
    return object;
  }
};

Json::Json() = default;
Json::Json(bool value) : value_(value) {}
// Non-negative numbers are stored in one way only, so that equal numbers compare equal.
Json::Json(std::int64_t value) : value_(value) {
  if (value >= 0) value_ = static_cast<std::uint64_t>(value);
}
Json::Json(std::uint64_t value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

std::optional<Json> Json::parse(std::string_view text) {
  JsonReader reader;
  if (!Foreign::sax_parse(text, &reader)) return std::nullopt;
  return reader.take();
}

std::string Json::on_one_line() const {
  return JsonWriter::text(*this, one_line);
}

std::string Json::indented(int spaces) const {
  return JsonWriter::text(*this, spaces);
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  Object& all = members();
  const auto found = last_named(all, name);
  if (found != all.rend()) return found->value;
  all.push_back({std::string(name), Json()});
  return all.back().value;
}

void Json::append(const Json& members) {
  for (const Member& member : members.members())
    (*this)[member.name] = member.value;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  value_as<Array>(value_, "an array").push_back(std::move(value));
}

void Json::add(std::string name, Json value) {
  members().push_back({std::move(name), std::move(value)});
}

bool Json::is_null() const {
  return std::holds_alternative<std::nullptr_t>(value_);
}

bool Json::is_object() const {
  return std::holds_alternative<Object>(value_);
}

bool Json::is_number() const {
  return std::holds_alternative<std::int64_t>(value_) ||
         std::holds_alternative<std::uint64_t>(value_) || std::holds_alternative<double>(value_);
}

bool Json::is_string() const {
  return std::holds_alternative<std::string>(value_);
}

const Json* Json::find(std::string_view name) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto found = last_named(*object, name);
  return found == object->rend() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view name) const {
  if (const Json* found = find(name)) return *found;
  throw JsonError(formatted("'{}' is missing", name));
}

const Json::Array& Json::items() const {
  return value_as<Array>(value_, "an array");
}

const Json::Object& Json::members() const {
  return value_as<Object>(value_, "an object");
}

Json::Object& Json::members() {
  return value_as<Object>(value_, "an object");
}

const std::string& Json::text() const {
  return value_as<std::string>(value_, "a text");
}

double Json::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* whole = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*whole);
  return value_as<double>(value_, "a number");
}

std::size_t Json::count() const {
  return value_as<std::uint64_t>(value_, "a whole number from 0");
}

bool operator==(const Json& a, const Json& b) {
  return a.value_ == b.value_;
}

}  // namespace gpufilter
