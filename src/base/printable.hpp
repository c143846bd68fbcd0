// Text on terminals, such as file names in messages, and its encoding. Text in files is Latin-1 or
// UTF-8; in the program it is UTF-8.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace gpufilter {

// The length in bytes, 1 to 4, of the character that `text` begins with; 0 if that is not valid
// UTF-8 or `text` is empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

[[nodiscard]] std::string utf8_from_latin1(std::string_view text);

// `text` on one line that a terminal shows literally: control characters, which file names may
// contain, are escaped as \n, \t or \x1b; bytes that are not UTF-8 as \xff; characters that break
// lines or change the direction of writing as \u202e. Printable text stays the same.
[[nodiscard]] std::string printable(std::string_view text);

// The text as printable() returns it, in at most `columns` characters (4 or more). A longer text
// loses its beginning and starts with "...", since paths usually differ at the end.
[[nodiscard]] std::string printable_end(std::string_view text, std::size_t columns);

// `text` with special characters of a format replaced by words.
[[nodiscard]] std::string with_words_for(
    std::string_view text, std::initializer_list<std::pair<char, std::string_view>> words);

// Removes the mark that some editors put before UTF-8 (U+FEFF).
void remove_byte_order_mark(std::string& text);

// `word` quoted for a shell, if necessary. Characters that printable() escapes are written as in
// $'a\nb', which bash, zsh and ksh understand, so that the word can be shown and copied.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace gpufilter
