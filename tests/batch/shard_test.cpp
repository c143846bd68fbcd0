#include "batch/shard.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using Names = std::vector<std::string>;

struct Folder {
  Names names;
  std::vector<std::uint64_t> bytes;

  [[nodiscard]] std::vector<SizedName> pictures() const {
    std::vector<SizedName> all;
    for (std::size_t i = 0; i < names.size(); ++i)
      all.push_back({names[i], bytes[i]});
    return all;
  }
};

// Sizes from one of several distributions; unique names of arbitrary bytes.
Folder random_folder(std::mt19937& random) {
  Folder folder;
  const auto count = std::uniform_int_distribution<std::size_t>(0, 300)(random);
  const int kind = std::uniform_int_distribution<>(0, 3)(random);
  for (std::size_t i = 0; i < count; ++i) {
    std::string name(std::uniform_int_distribution<std::size_t>(1, 20)(random), ' ');
    for (char& c : name)
      c = static_cast<char>(std::uniform_int_distribution<>(1, 255)(random));
    folder.names.push_back(name + std::to_string(i));
    const double u = std::uniform_real_distribution<>(0, 1)(random);
    folder.bytes.push_back(kind == 0   ? 7
                           : kind == 1 ? static_cast<std::uint64_t>(u * 1000)
                           : kind == 2 ? static_cast<std::uint64_t>(1 / (u * u + 1e-9))
                                       : 0);
  }
  return folder;
}

struct Loads {
  std::vector<std::uint64_t> bytes;
  std::vector<std::size_t> pictures;
};

Loads loads_of(const Folder& folder, const std::vector<std::uint32_t>& shards,
               std::uint32_t count) {
  Loads loads{std::vector<std::uint64_t>(count), std::vector<std::size_t>(count)};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    loads.bytes.at(shards[i]) += folder.bytes[i];
    ++loads.pictures.at(shards[i]);
  }
  return loads;
}

TEST(Shards, AreBalancedWithinTheLargestPicture) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Folder folder = random_folder(random);
    const auto count = std::uniform_int_distribution<std::uint32_t>(1, 40)(random);
    const auto shards = assign_shards(folder.pictures(), count);
    ASSERT_EQ(shards.size(), folder.names.size());
    const Loads loads = loads_of(folder, shards, count);  // each picture has one shard below count
    const auto [least, most] = std::minmax_element(loads.bytes.begin(), loads.bytes.end());
    const std::uint64_t largest =
        folder.bytes.empty() ? 0 : *std::max_element(folder.bytes.begin(), folder.bytes.end());
    EXPECT_LE(*most - *least, largest) << "round " << round;
    if (largest == 0) {
      const auto [few, many] = std::minmax_element(loads.pictures.begin(), loads.pictures.end());
      EXPECT_LE(*many - *few, 1U) << "round " << round;
    }
  }
}

TEST(Shards, DoNotDependOnTheOrderOfTheListing) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const Folder folder = random_folder(random);
    auto pictures = folder.pictures();
    std::map<std::string_view, std::uint32_t> expected;
    const auto shards = assign_shards(pictures, 7);
    for (std::size_t i = 0; i < pictures.size(); ++i)
      expected[pictures[i].name] = shards[i];
    std::shuffle(pictures.begin(), pictures.end(), random);
    const auto again = assign_shards(pictures, 7);
    for (std::size_t i = 0; i < pictures.size(); ++i)
      EXPECT_EQ(again[i], expected.at(pictures[i].name)) << "round " << round;
  }
}

// The division must never change: a later build may retry a shard.
TEST(Shards, FollowTheDocumentedRule) {
  const std::vector<SizedName> pictures{{"e", 5}, {"a", 1}, {"d", 5}, {"c", 3}, {"b", 1}, {"f", 0}};
  // d 5 to 0, e 5 to 1, c 3 to 2, a 1 to 2, b 1 to 2, f 0 to 0 (of those with five bytes).
  EXPECT_EQ(assign_shards(pictures, 3), (std::vector<std::uint32_t>{1, 2, 0, 2, 2, 0}));
  EXPECT_EQ(assign_shards(pictures, 1), std::vector<std::uint32_t>(6, 0));
  EXPECT_EQ(assign_shards({}, 4), std::vector<std::uint32_t>{});
}

TEST(Shards, AreWrittenAndRead) {
  EXPECT_EQ(to_string(Shard{3, 10}), "3/10");
  EXPECT_EQ(parse_shard("3/10"), (Shard{3, 10}));
  EXPECT_EQ(parse_shard("0/1"), (Shard{0, 1}));
  EXPECT_EQ(parse_shard("999999/1000000"), (Shard{999999, 1000000}));
}

std::string refusal_of_shard(const std::string& text) {
  try {
    return "accepted as " + to_string(parse_shard(text));
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Shards, MalformedTextsAreRefused) {
  for (const char* text : {"", "3", "/", "3/", "/10", "-1/10", "1/0", "0/0", " 1/2", "1/2 ",
                           "1/2/3", "a/b", "1/1000001", "0x1/2", "99999999999/99999999999"}) {
    EXPECT_TRUE(test::contains(refusal_of_shard(text), "write I/N, as in 0/8 to 7/8"))
        << text << ": " << refusal_of_shard(text);
  }
  EXPECT_EQ(refusal_of_shard("10/10"),
            "--shard 10/10: shards are counted from 0; the last of 10 is 9/10");
}

}  // namespace
}  // namespace gpufilter
