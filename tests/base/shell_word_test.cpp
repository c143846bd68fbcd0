#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "base/printable.hpp"

namespace gpufilter {
namespace {

TEST(ShellWord, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("a/b-c_1.png"), "a/b-c_1.png");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME;\\"), "'$HOME;\\'");
}

TEST(ShellWord, CanBeShownWhateverItHolds) {
  EXPECT_EQ(shell_word("a\nb"), "$'a\\nb'");
  EXPECT_EQ(shell_word("it's\t\\\xff\x1b"), "$'it\\'s\\t\\\\\\xff\\x1b'");
}

TEST(ShellWord, IsReadBackByBash) {
  for (const std::string word : {"a b", "it's", "a\nb", "\\n'\x01\xe9z\xff", "\xe2\x80\xae!"}) {
    const std::string script = "bash <<'END'\nprintf %s " + shell_word(word) + "\nEND\n";
    FILE* pipe = ::popen(script.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string read;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
      read += static_cast<char>(c);
    ::pclose(pipe);
    EXPECT_EQ(read, word);
  }
}

}  // namespace
}  // namespace gpufilter
