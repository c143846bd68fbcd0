// The pages of stages agree with the declarations.
#include "support/documents.hpp"

#include "stage/options/catalogue.hpp"

namespace gpufilter::test {
namespace {

// The words of a text, without Markdown's backticks and line ends.
std::string plain_words(std::string text) {
  std::erase(text, '`');
  std::istringstream words(text);
  std::string plain = " ";
  for (std::string word; words >> word;)
    plain += word + " ";
  return plain;
}

// The page whose first line names the option.
std::string page_of(const std::string& option) {
  for (const std::string& page : pages()) {
    if (!page.starts_with("docs/stages/")) continue;
    const std::string text = page_text(page);
    if (text.substr(0, text.find('\n')).find("`" + option + "`") != std::string::npos) return page;
  }
  return "";
}

// The section of a page from a heading up to the next one.
std::string section_of(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

void expect_declared(const std::string& text, const std::string& heading,
                     const std::string& declared) {
  EXPECT_TRUE(contains(plain_words(section_of(text, heading)), plain_words(declared)))
      << "section " << heading << " lacks: " << declared;
}

TEST(StagePages, SayWhatTheStagesDeclare) {
  for (const StageKind& kind : stage_catalogue()) {
    const std::string page = page_of(kind.option);
    SCOPED_TRACE(kind.option + ": " + page);
    ASSERT_NE(page, "") << "no page of docs/stages has this option in its first line";
    const std::string text = page_text(page);
    expect_declared(text, "Formula", kind.formula);
    expect_declared(text, "Edges", kind.edges);
    expect_declared(text, "Alpha", kind.alpha);
  }
}

}  // namespace
}  // namespace gpufilter::test
