#include <filesystem>

#include <gtest/gtest.h>

#include "device/stores.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

TEST(JsonCache, ReadsWhatItWrote) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "not/there/yet.json";
  const JsonCache cache(file, "things-1");
  EXPECT_FALSE(cache.read());
  EXPECT_EQ(cache.write({{"a", std::vector{1, 2}}}), "");
  ASSERT_TRUE(cache.read());
  EXPECT_EQ(cache.read(), (Json{{"a", std::vector{1, 2}}, {"schema", "things-1"}}));
  EXPECT_EQ(cache.write({{"b", 3}}), "");
  EXPECT_FALSE(cache.read()->find("a"));
}

TEST(JsonCache, OtherSchemasAndDamageReadAsNull) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.json";
  const JsonCache cache(file, "things-1");
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"schema": "things-2"})",
                           R"({"schema": 1})", R"({"schema": "things-1"} x)", "\xff\xfe"}) {
    test::write_file(file, text);
    ASSERT_TRUE(cache.read()) << text;
    EXPECT_TRUE(cache.read()->is_null()) << text;
  }
}

TEST(JsonCache, TextsThatAreNotUtf8AreReplaced) {
  const test::TemporaryFolder folder;
  const JsonCache cache(folder / "a.json", "things-1");
  EXPECT_EQ(cache.write({{"name", "GPU \xff"}}), "");
  EXPECT_EQ(cache.read()->at("name").text(), "GPU \xef\xbf\xbd");
}

TEST(JsonCache, SaysWhyItCouldNotBeWritten) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "file", "");
  const JsonCache cache(folder / "file/a.json", "things-1");
  EXPECT_NE(cache.write({{"a", 1}}), "");
  EXPECT_FALSE(cache.read());
}

TEST(JsonCache, WithoutAFileKeepsNothing) {
  const JsonCache cache(std::nullopt, "things-1");
  EXPECT_EQ(cache.write({{"a", 1}}), "");
  EXPECT_FALSE(cache.read());
}

}  // namespace
}  // namespace gpufilter
