#include "base/terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

namespace gpufilter {
namespace {

struct Character {
  std::string_view bytes;
  std::size_t width = 1;
};

// Makes this thread read UTF-8 while it exists, regardless of the user's locale.
class Utf8Locale {
 public:
  Utf8Locale() : before_(::uselocale(shared())) {}
  ~Utf8Locale() { ::uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  // Stays null on systems without this locale; the thread's locale then does not change.
  static locale_t shared() {
    static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }

  locale_t before_;
};

// Some terminals show the character before this one as a wide emoji.
constexpr wchar_t emoji_selector = 0xfe0f;

std::vector<Character> characters_of(std::string_view text) {
  const Utf8Locale locale;
  std::vector<Character> characters;
  while (!text.empty()) {
    wchar_t code = 0;
    std::mbstate_t state{};
    const std::size_t length = std::mbrtowc(&code, text.data(), text.size(), &state);
    // Both of its error codes are larger than any text.
    const int width = length == 0 || length > text.size() ? -1 : ::wcwidth(code);
    if (width < 0) {
      characters.push_back({"?", 1});
      text.remove_prefix(length > text.size() ? 1 : std::max<std::size_t>(length, 1));
    } else {
      characters.push_back(
          {text.substr(0, length), code == emoji_selector ? 1 : static_cast<std::size_t>(width)});
      text.remove_prefix(length);
    }
  }
  return characters;
}

std::size_t width_of(const std::vector<Character>& characters) {
  std::size_t width = 0;
  for (const Character& character : characters)
    width += character.width;
  return width;
}

// The first characters that fit in `columns` columns; `columns` is reduced by their width.
template <typename Iterator>
Iterator advance_by_columns(Iterator first, Iterator last, std::size_t columns) {
  for (; first != last && first->width <= columns; ++first)
    columns -= first->width;
  return first;
}

std::string text_of(std::vector<Character>::const_iterator first,
                    std::vector<Character>::const_iterator last) {
  std::string text;
  for (; first != last; ++first)
    text += first->bytes;
  return text;
}

constexpr std::string_view ellipsis = "...";

// Where to break a line so that its first part has at most `columns` columns: at a blank after a
// word; npos if there is none.
std::size_t break_in(std::string_view line, std::size_t columns) {
  const std::size_t first_word = std::min(line.find_first_not_of(' '), line.size());
  const auto all = characters_of(line);
  const auto end = advance_by_columns(all.begin(), all.end(), columns);
  const std::size_t fits = text_of(all.begin(), end).size();
  const std::size_t blank = line.find_last_of(' ', fits);
  return blank != std::string_view::npos && blank > first_word ? blank : line.find(' ', first_word);
}

std::string folded_line(std::string_view line, std::size_t columns) {
  const std::string next(std::min(line.find_first_not_of(' '), line.size()) + 2, ' ');
  std::string text;
  for (std::size_t room = columns; display_width(line) > room;
       room = columns - std::min(next.size(), columns - 1)) {
    const std::size_t blank = break_in(line, room);
    const std::size_t rest = line.find_first_not_of(' ', blank);
    if (rest == std::string_view::npos) break;
    text.append(line.substr(0, line.find_last_not_of(' ', blank) + 1)).append("\n").append(next);
    line.remove_prefix(rest);
  }
  return text.append(line);
}

}  // namespace

bool is_terminal(int descriptor) {
  // The environment does not change once threads run.
  const char* kind = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe)
  return ::isatty(descriptor) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

std::size_t terminal_columns(int descriptor) {
  struct winsize size {};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

std::size_t display_width(std::string_view text) {
  return width_of(characters_of(text));
}

std::string fitted(std::string_view text, std::size_t columns) {
  const auto all = characters_of(text);
  if (width_of(all) <= columns) return text_of(all.begin(), all.end());
  if (columns <= ellipsis.size()) return std::string(ellipsis.substr(0, columns));
  const auto end = advance_by_columns(all.begin(), all.end(), columns - ellipsis.size());
  return text_of(all.begin(), end).append(ellipsis);
}

std::string fitted_at_end(std::string_view text, std::size_t columns) {
  const auto all = characters_of(text);
  if (width_of(all) <= columns) return text_of(all.begin(), all.end());
  if (columns <= ellipsis.size()) return std::string(ellipsis.substr(0, columns));
  auto begin = advance_by_columns(all.rbegin(), all.rend(), columns - ellipsis.size()).base();
  // A combining character belongs to the one before it.
  while (begin != all.end() && begin->width == 0)
    ++begin;
  return std::string(ellipsis) + text_of(begin, all.end());
}

std::string folded(std::string_view text, std::size_t columns) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += folded_line(text.substr(0, end), columns);
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string folded_for(int descriptor, std::string_view text) {
  return is_terminal(descriptor) ? folded(text, terminal_columns(descriptor)) : std::string(text);
}

}  // namespace gpufilter
