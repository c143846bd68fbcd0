#include <nlohmann/json.hpp>
#include <zlib.h>

#include "base/byte_cursor.hpp"
#include "base/content_hash.hpp"
#include "base/elementary.hpp"
#include "base/json.hpp"
#include "base/lazy_library.hpp"
#include "base/numbers.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Reference = nlohmann::ordered_json;

constexpr std::array<std::uint8_t, 8> bytes{0x80, 0x01, 'a', 'b', 0, 0xFF, 0x10, 0x20};

TEST(ByteCursor, ReadsNumbersOfBothByteOrdersAndPutsNumbersAsItReadsThemAndEndsWithTheBytes) {
  EXPECT_EQ(number_of(std::span(bytes).first(3)), 0x800161U);
  EXPECT_EQ(number_of(std::span(bytes).first(3), ByteOrder::little), 0x610180U);
  EXPECT_EQ(number_of(bytes, ByteOrder::little), 0x2010FF0062610180U);
  EXPECT_EQ(number_of({}), 0U);
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    Bytes put;
    put_number(put, 0x1234, 2, order);
    put_number(put, 0x89ABCDEF01, 4, order);  // without the highest byte
    ByteCursor cursor(put, order);
    EXPECT_EQ(cursor.number(2), 0x1234U);
    EXPECT_EQ(cursor.number(4), 0xABCDEF01U);
  }
  ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.take(2).size(), 2U);
  EXPECT_EQ(cursor.text(), "ab");
  EXPECT_EQ(cursor.number(8), 0xFF1020U);
  EXPECT_TRUE(cursor.rest().empty());
  EXPECT_EQ(cursor.number(4), 0U);
  EXPECT_EQ(cursor.text(), "");
}

TEST(ByteCursor, HasOnlyWholeParts) {
  const ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.number_at(6, 2), 0x1020U);
  EXPECT_EQ(cursor.part(8, 0)->size(), 0U);
  EXPECT_FALSE(cursor.part(9, 0));
  EXPECT_FALSE(cursor.number_at(7, 2));
  EXPECT_FALSE(cursor.part(1, ~std::uint64_t{0}));
}

TEST(Checked, MultipliesWhatFitsAndRefusesProductsThatDoNotFitAndAddsWhatFits) {
  EXPECT_EQ(checked_multiply(6, 7), 42);
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ULL << 32U, (1ULL << 32U) - 1), 0xffffffff00000000U);
  EXPECT_EQ(checked_multiply<std::size_t>(0, SIZE_MAX), 0U);
  EXPECT_THROW(static_cast<void>(checked_multiply<std::uint64_t>(1ULL << 32U, 1ULL << 32U)),
               std::overflow_error);
  EXPECT_THROW(static_cast<void>(checked_multiply(1 << 16, 1 << 15)), std::overflow_error);
  EXPECT_THROW(static_cast<void>(checked_multiply(-2, std::numeric_limits<int>::max())),
               std::overflow_error);
  EXPECT_EQ(checked_add(2, 3), 5);
  EXPECT_EQ(checked_add<std::size_t>(SIZE_MAX - 1, 1), SIZE_MAX);
  EXPECT_THROW(static_cast<void>(checked_add<std::size_t>(SIZE_MAX, 1)), std::overflow_error);
  EXPECT_THROW(static_cast<void>(checked_add(std::numeric_limits<int>::min(), -1)),
               std::overflow_error);
}

TEST(Checked, RoundsUpToMultiples) {
  EXPECT_EQ(round_up(0, 64), 0);
  EXPECT_EQ(round_up(1, 64), 64);
  EXPECT_EQ(round_up(64, 64), 64);
  EXPECT_EQ(round_up(65, 64), 128);
  EXPECT_EQ(round_up(7, 1), 7);
  EXPECT_THROW(static_cast<void>(round_up<std::size_t>(SIZE_MAX - 1, 64)), std::overflow_error);
}

struct Value {
  double x;
  double result;
};

// The exact results rounded to the nearest double, worked out with 300 bits.
const std::vector<Value> logarithms{
    {0x1.a36e2eb1c432dp-14, -0x1.26bb1bbb55515p+3},  // 1e-4
    {0x1.078eb9bbc811dp-8, -0x1.6107820692010p+2},   // 1e-4 + 1/255
    {0x1.0000000000000p-1, -0x1.62e42fefa39efp-1},
    {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},  // on both sides of the square root of 1/2
    {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.00068db8bac71p+0, 0x1.a368d0657fcd4p-14},  // 1.0001
    {0x1.0000000000000p-1022, -0x1.6232bdd7abcd2p+9},
    {0x0.0000000000001p-1022, -0x1.74385446d71c3p+9},
    {0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9},
    {0x1.fffffffffffffp-1, -0x1.0000000000000p-53},
    {0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
    {0x1.4000000000000p+3, 0x1.26bb1bbb55516p+1},
    {0x1.5bf0a8b145769p+1, 0x1.0000000000000p+0}};

const std::vector<Value> powers{{0x0.0p+0, 0x1.0000000000000p+0},
                                {-0x1.26bb1bbb55515p+3, 0x1.a36e2eb1c4333p-14},  // ln(1e-4)
                                {-0x1.0000000000000p+0, 0x1.78b56362cef38p-2},
                                {0x1.62e42fefa39f0p-2, 0x1.6a09e667f3bcdp+0},  // ln(2) / 2
                                {-0x1.4000000000000p+1, 0x1.50385c094f425p-4},
                                {0x1.79ca10c924223p-67, 0x1.0000000000000p+0},
                                {-0x1.5e00000000000p+9, 0x1.14f2b0fb9307fp-1010},
                                {0x1.5e00000000000p+9, 0x1.d945df4f8ec8ep+1009},
                                {0x1.0000000000000p-1, 0x1.a61298e1e069cp+0},
                                {-0x1.a36e2eb1c432dp-14, 0x1.fff2e4b97d31dp-1}};

double neighbour(double x, int steps) {
  const double towards = steps < 0 ? -std::numeric_limits<double>::infinity()
                                   : std::numeric_limits<double>::infinity();
  return std::nextafter(x, towards);
}

TEST(NaturalLogarithm, HasKnownBits) {
  for (const Value& value : logarithms)
    EXPECT_EQ(natural_logarithm(value.x), value.result) << value.x;
  // For 0.18 the exact result is almost in the middle between two doubles, and this is the farther
  // one. A changed order of operations would show here.
  EXPECT_EQ(natural_logarithm(0x1.70a3d70a3d70ap-3), neighbour(-0x1.b6fd079fe3149p+0, -1));
}

TEST(Exponential, HasKnownBits) {
  for (const Value& value : powers)
    EXPECT_EQ(exponential(value.x), value.result) << value.x;
  EXPECT_EQ(exponential(1), neighbour(0x1.5bf0a8b145769p+1, 1));                       // as above
  EXPECT_EQ(exponential(-0x1.62e42fefa39efp-2), neighbour(0x1.6a09e667f3bcdp-1, -1));  // as above
}

// In units of the last place of `expected`.
long double error_of(double found, long double expected) {
  const auto nearest = static_cast<double>(expected);
  const double unit = std::nextafter(std::abs(nearest), std::numeric_limits<double>::infinity()) -
                      std::abs(nearest);
  return std::abs(found - expected) / static_cast<long double>(unit);
}

// The C library's functions for numbers of 64 bits and more serve as reference: their error is far
// below a unit of a double.
TEST(ElementaryFunctions, AreWithinAUnitOfTheLastPlace) {
  if (std::numeric_limits<long double>::digits < 64) {
    GTEST_SKIP() << "long double is no wider than double here";
  }
  for (int i = 1; i <= 65536; ++i) {
    const double brightness = 1e-4 + i / 65536.0;
    ASSERT_LT(
        error_of(natural_logarithm(brightness), std::log(static_cast<long double>(brightness))), 1)
        << brightness;
    const double scaled = std::ldexp(brightness, i % 2000 - 1000);
    ASSERT_LT(error_of(natural_logarithm(scaled), std::log(static_cast<long double>(scaled))), 1)
        << scaled;
    for (const double power : {-9.3 * i / 65536, 700.0 * i / 65536, -700.0 * i / 65536}) {
      ASSERT_LT(error_of(exponential(power), std::exp(static_cast<long double>(power))), 1)
          << power;
    }
  }
}

ContentHash hash_of(const Bytes& bytes) {
  ContentHasher hasher;
  hasher.add(bytes);
  return hasher.result();
}

// As printed by xxhsum -H2.
TEST(ContentHash, IsXxh3Of128Bits) {
  EXPECT_EQ(to_string(content_hash("The quick brown fox jumps over the lazy dog")),
            "ddd650205ca3e7fa24a1cc2e3a8a7651");
  EXPECT_EQ(to_string(content_hash("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_of({}), content_hash(""));
}

TEST(ContentHash, DoesNotDependOnTheCuts) {
  std::mt19937 random(1);
  Bytes bytes(1000);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random());
  const ContentHash whole = hash_of(bytes);
  EXPECT_EQ(content_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), whole);
  for (int round = 0; round < 100; ++round) {
    ContentHasher hasher;
    std::span<const std::uint8_t> rest = bytes;
    while (!rest.empty()) {
      const std::size_t count = std::min<std::size_t>(rest.size(), random() % 40);
      hasher.add(rest.first(count));
      rest = rest.subspan(count);
      static_cast<void>(hasher.result());
    }
    EXPECT_EQ(hasher.result(), whole);
  }
}

TEST(ContentHash, ComesBackFromText) {
  const ContentHash hash{0x0123456789abcdef, 7};
  EXPECT_EQ(to_string(hash), "0123456789abcdef0000000000000007");
  EXPECT_EQ(parse_content_hash(to_string(hash)), hash);
  for (const char* text :
       {"", "0", "0123456789abcdef000000000000000", "x123456789abcdef0000000000000007",
        "0123456789abcdef00000000000000070", "0123456789abcdef000000000000000x"}) {
    EXPECT_EQ(parse_content_hash(text), std::nullopt) << text;
  }
}

// Json writes what nlohmann::ordered_json writes, byte for byte, and reads what it reads.

struct Pair {
  Json own;
  Reference reference;
};

template <typename Value>
Pair both(const Value& value) {
  return {value, value};
}

// Integers and other numbers, of every size.
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
  return objection_to<JsonError>([&] { read(); });
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

struct Zlib : LazyLibrary {
  using LazyLibrary::LazyLibrary;
  GPUFILTER_LIBRARY_FUNCTIONS(crc32)
};

struct FutureZlib : LazyLibrary {
  using LazyLibrary::LazyLibrary;
  decltype(&::crc32) crc32 = function<decltype(&::crc32)>("crc32_of_tomorrow");
};

template <typename Library>
std::string failure_of(const char* name) {
  return objection_to<LibraryNotLoaded>([&] { const Library library(name); });
}

TEST(LazyLibrary, HasTheFunctionsOfTheLibrary) {
  const Zlib library("libz.so.1");
  const auto* text = reinterpret_cast<const Bytef*>("123456789");
  EXPECT_EQ(library.crc32(0, text, 9), 0xcbf43926U);  // the check value of CRC-32
}

TEST(LazyLibrary, NamesALibraryThatIsMissingAndNamesAFunctionThatIsMissing) {
  const std::string failure = failure_of<Zlib>("libnone.so.7");
  EXPECT_TRUE(failure.starts_with("cannot be loaded: libnone.so.7: ")) << failure;
  EXPECT_EQ(failure_of<FutureZlib>("libz.so.1"),
            "another version of libz.so.1 is needed: it has no crc32_of_tomorrow()");
}

}  // namespace
}  // namespace gpufilter::test
