// "@FILE" on the command line stands for the words in FILE, a recipe.
#pragma once

#include <optional>
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

struct PlacedWord {
  std::string text;
  std::string place;  // "web.recipe:3"; empty: the word stands on the command line
};

// `words` with those of recipes in the place of their names. Behind "--" nothing is replaced. In a
// recipe, the file of a stage and another recipe are looked for in the recipe's own folder first.
// Throws UsageError.
[[nodiscard]] std::vector<PlacedWord> with_recipes(const std::vector<std::string>& words);

// Follows the name of an option in the reason for refusing the second of two.
inline constexpr std::string_view given_more_than_once = " is given more than once";

// `words` without what recipes say of the option that `reason` calls given more than once, if the
// command line itself gives it once: it overrides the recipes. Nothing otherwise.
[[nodiscard]] std::optional<std::vector<PlacedWord>> without_overridden(
    const std::vector<PlacedWord>& words, const std::string& reason);

// `reason`, preceded by the place of the recipe's word that it is about. It begins with that word.
// If it is about an option that is given more than once, all places are named.
[[nodiscard]] std::string with_place(const std::vector<PlacedWord>& words,
                                     const std::string& reason);

}  // namespace gpufilter
