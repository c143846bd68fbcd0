// The words in the text of a recipe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

struct RecipeWord {
  std::string text;
  int line = 1;  // where it begins
};

// Words end with blanks and lines. As in a shell, '...' holds any characters, "..." too, except
// that a backslash there makes \" and \\ a character; elsewhere a backslash takes the next
// character as it is, and joins a line with the next one at its end. '#' at the beginning of a word
// starts a comment. Nothing is replaced: neither variables nor patterns nor '~'. Throws UsageError,
// which begins with "NAME:LINE: ".
[[nodiscard]] std::vector<RecipeWord> recipe_words(std::string_view text, const std::string& name);

}  // namespace gpufilter
