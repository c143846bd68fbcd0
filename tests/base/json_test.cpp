// Json writes what nlohmann::ordered_json writes, byte for byte, and reads what it reads.
#include "base/json.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/objection.hpp"

namespace gpufilter {
namespace {

using Reference = nlohmann::ordered_json;

struct Pair {
  Json own;
  Reference reference;
};

template <typename Value>
Pair both(const Value& value) {
  return {value, value};
}

// Whole numbers and others, of every size.
Pair random_number(std::mt19937_64& random) {
  const std::uint64_t bits = random() >> (random() % 64);
  switch (random() % 5) {
    case 0:
      return both(bits);
    case 1:
      return both(static_cast<std::int64_t>(~bits));
    case 2:
      return both(std::ldexp(static_cast<double>(bits), static_cast<int>(random() % 200) - 160));
    case 3:
      return both(static_cast<double>(random() % 100'000) / 1000);
    default:
      return both(static_cast<int>(random() % 7) - 3);
  }
}

Pair random_scalar(std::mt19937_64& random) {
  static const std::array<std::string, 8> texts{"",
                                                "width",
                                                "a \"quoted\" \\ path/",
                                                "\x01\n\t\x7f",
                                                "\xc3\xa9",
                                                "GPU \xff\xfe",
                                                "\xe2\x82",
                                                std::string("a\0b", 3)};
  switch (random() % 4) {
    case 0:
      return {nullptr, nullptr};
    case 1:
      return both(random() % 2 == 0);
    case 2:
      return both(texts.at(random() % texts.size()));
    default:
      return random_number(random);
  }
}

Pair random_value(std::mt19937_64& random, int depth) {
  const auto kind = random() % 3;
  if (depth == 0 || kind == 0) return random_scalar(random);
  Pair value{kind == 1 ? Json::array() : Json::object(),
             kind == 1 ? Reference::array() : Reference::object()};
  const auto count = random() % 6;
  for (std::uint64_t i = 0; i < count; ++i) {
    Pair inner = random_value(random, depth - 1);
    if (kind == 1) {
      value.own.push_back(std::move(inner.own));
      value.reference.push_back(std::move(inner.reference));
    } else {
      const std::string name = "name " + std::to_string(random() % 5);  // some occur twice
      value.own[name] = std::move(inner.own);
      value.reference[name] = std::move(inner.reference);
    }
  }
  return value;
}

TEST(Json, IsWrittenAsItsReferenceIs) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    const Pair value = random_value(random, 4);
    constexpr auto replace = Reference::error_handler_t::replace;
    ASSERT_EQ(value.own.on_one_line(), value.reference.dump(-1, ' ', false, replace));
    ASSERT_EQ(value.own.indented(2), value.reference.dump(2, ' ', false, replace));
  }
}

TEST(Json, ReadsWhatItWrites) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = random_value(random, 4).own.indented(1);
    const auto read = Json::parse(text);
    ASSERT_TRUE(read) << text;
    ASSERT_EQ(read->indented(1), text);
  }
}

TEST(Json, IsReadOrRefusedAsItsReferenceIs) {
  const std::string valid = R"( {"a": [1, -2, 3.5e2, null, true, "\u00e9\n"], "b": {"c": {}}} )";
  std::mt19937_64 random(3);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = valid;
    for (auto changes = random() % 4; changes > 0; --changes)
      text.at(random() % text.size()) = "{}[],:\"\\ 01e.-tn\xc3"[random() % 17];
    const Reference reference = Reference::parse(text, nullptr, false);
    const auto own = Json::parse(text);
    ASSERT_EQ(own.has_value(), !reference.is_discarded()) << text;
    if (!own) continue;
    ASSERT_EQ(own->on_one_line(), reference.dump()) << text;
    ++accepted;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 19'000);
}

TEST(Json, OfDeepNestingIsRefused) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::parse(nested(64)));
  EXPECT_FALSE(Json::parse(nested(65)));
  EXPECT_FALSE(Json::parse(std::string(10'000'000, '[')));
}

TEST(Json, HoldsContainersAndNumbersOfEveryKind) {
  const std::array<float, 2> floats{0.1F, 3};
  const std::map<std::string, std::size_t, std::less<>> counts{{"b", 2}, {"a", 1}};
  const Json json{{"floats", floats},
                  {"texts", std::vector<std::string>{"x", "y"}},
                  {"counts", counts},
                  {"rows", std::vector<std::array<float, 2>>{floats}},
                  {"infinite", std::numeric_limits<double>::infinity()},
                  {"small", std::uint8_t{200}},
                  {"nested", {{"a", 1}, {"b", nullptr}}},
                  {"empty", Json::object()}};
  EXPECT_EQ(json.on_one_line(),
            R"({"floats":[0.10000000149011612,3.0],"texts":["x","y"],"counts":{"a":1,"b":2},)"
            R"("rows":[[0.10000000149011612,3.0]],"infinite":null,"small":200,)"
            R"("nested":{"a":1,"b":null},"empty":{}})");
}

TEST(Json, MembersKeepTheirOrder) {
  Json json{{"z", 1}};
  json["a"] = 2;
  json.append({{"m", 3}, {"z", 4}});
  EXPECT_EQ(json.on_one_line(), R"({"z":4,"a":2,"m":3})");
}

TEST(Json, OfSeveralMembersWithOneNameTheLastCounts) {
  Json json = *Json::parse(R"({"a": 1, "b": 2, "a": 3})");
  EXPECT_EQ(json.at("a"), Json(3));
  EXPECT_EQ(json.on_one_line(), R"({"a":3,"b":2})");
}

std::string objection(const std::function<void()>& read) {
  return test::objection_to<JsonError>([&] { read(); });
}

TEST(Json, SaysWhatIsWrongWithAValue) {
  const Json json = *Json::parse(R"({"a": -1, "b": "text", "c": 1.5})");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("d")); }), "'d' is missing");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("a").text()); }), "a value is not a text");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("a").count()); }),
            "a value is not a whole number from 0");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("c").count()); }),
            "a value is not a whole number from 0");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("b").number()); }),
            "a value is not a number");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("b").items()); }), "a value is not an array");
  EXPECT_EQ(objection([&] { static_cast<void>(json.at("b").members()); }),
            "a value is not an object");
  EXPECT_EQ(json.find("d"), nullptr);
  EXPECT_EQ(json.at("b").find("d"), nullptr);
  EXPECT_EQ(json.at("a").number(), -1);
}

}  // namespace
}  // namespace gpufilter
