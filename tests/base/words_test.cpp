#include "base/words.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

using Words = std::vector<std::string>;

TEST(Enumerated, IsOnePhrase) {
  EXPECT_EQ(enumerated({}, "or"), "");
  EXPECT_EQ(enumerated({"8"}, "or"), "8");
  EXPECT_EQ(enumerated({"8", "16"}, "or"), "8 or 16");
  EXPECT_EQ(enumerated({"8", "16", "32"}, "and"), "8, 16 and 32");
}

TEST(WordsLike, AreThoseThatFewLettersMake) {
  const Words borders{"replicate", "mirror", "wrap", "constant"};
  EXPECT_EQ(words_like("miror", borders), Words{"mirror"});
  EXPECT_EQ(words_like("mirrror", borders), Words{"mirror"});
  EXPECT_EQ(words_like("mirrur", borders), Words{"mirror"});
  EXPECT_EQ(words_like("warp", borders), Words{"wrap"});
  EXPECT_EQ(words_like("const", borders), Words{"constant"});
  EXPECT_EQ(words_like("Mirror", borders), Words{"mirror"});
  EXPECT_EQ(words_like("REPLICATE", borders), Words{"replicate"});
}

TEST(WordsLike, TwoLettersSwappedAreOneSlip) {
  EXPECT_EQ(words_like("cup", {"auto", "cpu", "gpu"}), Words{"cpu"});
  EXPECT_EQ(words_like("devcies", {"compare", "devices"}), Words{"devices"});
  EXPECT_EQ(words_like("ab", {"ba"}), Words{"ba"});
  EXPECT_EQ(words_like("abc", {"cab", "cba"}), Words{});
}

// "sharpen" is not a typo of "shard", although five of its seven letters are the same.
TEST(WordsLike, AreTyposAndNotOtherWords) {
  const Words options{"blur",  "color",     "levels", "tonemap", "device", "jobs",
                      "shard", "recursive", "resume", "quality", "tile",   "on-exists"};
  for (const char* word : {"sharpen", "resize", "denoise", "logs", "size", "crop"})
    EXPECT_EQ(words_like(word, options), Words{}) << word;
  EXPECT_EQ(words_like("recurse", options), Words{"recursive"});
  EXPECT_EQ(words_like("recusrive", options), Words{"recursive"});
  EXPECT_EQ(words_like("recusve", options), Words{"recursive"});
  EXPECT_EQ(words_like("qualty", options), Words{"quality"});
  EXPECT_EQ(words_like("jbos", options), Words{"jobs"});
  EXPECT_EQ(words_like("shards", options), Words{"shard"});
  EXPECT_EQ(words_like("onexists", options), Words{"on-exists"});
  EXPECT_EQ(words_like("tone-map", options), Words{"tonemap"});
  EXPECT_EQ(words_like("tone", options), Words{"tonemap"});
}

TEST(WordsLike, AreEmptyIfNothingIsClose) {
  const Words borders{"replicate", "mirror", "wrap", "constant"};
  EXPECT_EQ(words_like("black", borders), Words{});
  EXPECT_EQ(words_like("", borders), Words{});
  EXPECT_EQ(words_like("mirror", {}), Words{});
}

TEST(NotAmong, NamesTheWordFirst) {
  EXPECT_EQ(not_among("ovewrite", {"fail", "skip", "overwrite"}),
            "'ovewrite' is not one of fail, skip, overwrite; did you mean overwrite?");
  EXPECT_EQ(not_among("foo", {"fail", "skip"}), "'foo' is not one of fail, skip");
  EXPECT_EQ(not_among("a\nb", {"x"}), "'a\\nb' is not one of x");
  EXPECT_EQ(not_among("440", {"444", "420"}), "'440' is not one of 444, 420");
}

TEST(WordsLike, AreAtMostThreeBestFirst) {
  EXPECT_EQ(words_like("abcdefg", {"abxxefg", "abcdefx", "abcdefg", "zbcdefg", "abcdeg"}),
            (Words{"abcdefg", "abcdefx", "zbcdefg"}));
}

}  // namespace
}  // namespace gpufilter
