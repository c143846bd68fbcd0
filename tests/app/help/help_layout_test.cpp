#include "app/help/help_layout.hpp"

#include "support/testing.hpp"

namespace gpufilter {
namespace {

TEST(Wrapped, LinesEndAtEightyColumns) {
  const std::string word(26, 'a');
  const std::string three = word + " " + word + " " + word;  // 80 columns
  EXPECT_EQ(wrapped(three), three + "\n");
  EXPECT_EQ(wrapped(three + "b"), word + " " + word + "\n" + word + "b\n");
  EXPECT_EQ(wrapped(three, 1), " " + word + " " + word + "\n " + word + "\n");
  EXPECT_EQ(wrapped(std::string(99, 'x') + " y"), std::string(99, 'x') + "\ny\n");
  EXPECT_EQ(wrapped("a  b\nc\n\nd", 2), "  a b\n  c\n\n  d\n");
  EXPECT_EQ(wrapped(""), "");
}

TEST(Wrapped, DoesNotBreakShortTextsInQuotes) {
  const std::string word(70, 'a');
  EXPECT_EQ(wrapped(word + " \"a b c; d e f; g h i\" b"), word + "\n\"a b c; d e f; g h i\" b\n");
  EXPECT_EQ(wrapped(word + " \"a b"), word + " \"a b\n");
  const std::string sentence = "\"a sentence that is long enough to be broken\"";
  EXPECT_EQ(wrapped(word + " " + sentence), word + " \"a\n" + sentence.substr(3) + "\n");
  EXPECT_EQ(wrapped(word + " \"a\" b \"c\" d"), word + " \"a\" b \"c\"\nd\n");
}

TEST(ListItem, TextBeginsInItsColumn) {
  EXPECT_EQ(list_item("head", "text", 8), "  head  text\n");
  EXPECT_EQ(list_item("heads", "text", 8), "  heads\n        text\n");
  EXPECT_EQ(list_item("head", "one\ntwo", 8), "  head  one\n        two\n");
  EXPECT_EQ(list_item("head", "", 8), "  head\n");
}

TEST(FirstSentence, EndsBeforeTheFirstFullStop) {
  EXPECT_EQ(first_sentence("Blurs. Twice."), "Blurs");
  EXPECT_EQ(first_sentence("Blurs."), "Blurs");
  EXPECT_EQ(first_sentence("From 0.1 on"), "From 0.1 on");
  EXPECT_EQ(first_sentence("Blurs\nnaive: slowly. Really."), "Blurs");
  EXPECT_EQ(first_sentence(""), "");
}

struct HelpPages : ::testing::Test {
  HelpPages() {
    app_.add_option("FILE", file_, "A picture.")->required();
    app_.add_option("-n,--number", number_, "How many. More is more.")->option_text("N [1]");
    app_.add_flag("--all", all_, "Everything.")->group("More");
  }

  Arguments app_{"What it does.", "gpufilter do"};
  std::string file_;
  int number_ = 1;
  bool all_ = false;
};

TEST_F(HelpPages, AnOptionHasItsNamesAndValues) {
  EXPECT_EQ(option_head(*app_.find("--number")), "-n, --number N");
  EXPECT_EQ(option_head(*app_.find("--all")), "--all");
  int blocks = 0;
  const auto* option =
      app_.add_flag_function(
              "--verify{16}", [&](std::int64_t n) { blocks = static_cast<int>(n); }, "")
          ->option_text("[=N]");
  EXPECT_EQ(option_head(*option), "--verify[=N]");
  EXPECT_TRUE(test::contains(option_groups(app_), "  --verify[=N]\n"));
  std::vector<std::string> stages;
  app_.add_option("STAGE", stages, "Stages.");
  EXPECT_EQ(usage_line(app_), "gpufilter do FILE [STAGE...] [OPTION...]");
}

TEST_F(HelpPages, APageHasEverythingAndTheGroupOfHelpLast) {
  app_.help_option().description("Show this help");
  EXPECT_EQ(option_groups(app_),
            "More:\n"
            "  --all               Everything.\n"
            "\n"
            "Options:\n"
            "  -h, --help          Show this help\n"
            "  -n, --number N [1]  How many. More is more.\n");
  app_.footer("Examples:\n");
  const std::string page = command_page(app_);
  EXPECT_EQ(page.find("What it does.\n\n"
                      "Usage: gpufilter do FILE [OPTION...]\n"
                      "  FILE                A picture.\n"
                      "\n"),
            0U)
      << page;
  EXPECT_TRUE(page.ends_with("\n\nExamples:\n")) << page;
}

}  // namespace
}  // namespace gpufilter
