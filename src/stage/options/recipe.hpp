// "@FILE" on the command line is replaced by the words in FILE, a recipe.
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

// Words end at blanks and line ends. As in a shell, '...' holds any characters, and so does "...",
// except that \" and \\ there are one character; elsewhere a backslash quotes the next character,
// and at the end of a line joins it with the next line. '#' at the beginning of a word starts a
// comment. Variables, patterns and '~' are not expanded. Throws UsageError, which begins with
// "NAME:LINE: ".
[[nodiscard]] std::vector<RecipeWord> recipe_words(std::string_view text, const std::string& name);

struct PlacedWord {
  std::string text;
  std::string place;  // "web.recipe:3"; empty: the command line
};

// `words` with recipes replaced by their words, except after "--". In a recipe, files of stages and
// other recipes are searched for in the recipe's own folder first. Throws UsageError.
[[nodiscard]] std::vector<PlacedWord> with_recipes(const std::vector<std::string>& words);

// Follows the name of an option in the reason for refusing the second of two.
inline constexpr std::string_view given_more_than_once = " is given more than once";

// If `reason` complains of an option given more than once, and the command line itself gives it
// once: `words` without the recipes' occurrences, which the command line overrides. Otherwise
// nothing.
[[nodiscard]] std::optional<std::vector<PlacedWord>> without_overridden(
    const std::vector<PlacedWord>& words, const std::string& reason);

// `reason`, which begins with the word in question, preceded by the position of that word in a
// recipe. For an option given more than once, all positions are named.
[[nodiscard]] std::string with_place(const std::vector<PlacedWord>& words,
                                     const std::string& reason);

}  // namespace gpufilter
