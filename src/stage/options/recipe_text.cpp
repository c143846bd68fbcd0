#include "stage/options/recipe_text.hpp"

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/text_pieces.hpp"

namespace gpufilter {
namespace {

constexpr std::string_view blanks_and_lines = " \t\r\n\v\f";

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  std::vector<RecipeWord> run() {
    while (at_ < text_.size()) {
      const char next = text_[at_];
      if (blanks_and_lines.find(next) != std::string_view::npos) {
        end_word();
        take();
      } else if (next == '#' && !in_word_) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (next == '\'' || next == '"') {
        take_quoted();
      } else if (next == '\\') {
        take_escaped();
      } else {
        word().text += take();
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  char take() {
    const char next = text_[at_++];
    if (next == '\n') ++line_;
    return next;
  }

  RecipeWord& word() {
    if (!in_word_) word_ = {"", line_};
    in_word_ = true;
    return word_;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    in_word_ = false;
  }

  // An escaped line end is a blank of no width, as in a shell.
  void take_escaped() {
    const std::string_view rest = text_.substr(at_ + 1);
    for (const std::string_view line_end : {"\n", "\r\n"}) {
      if (!rest.starts_with(line_end)) continue;
      at_ += 1 + line_end.size();
      ++line_;
      return;
    }
    ++at_;
    word().text += rest.empty() ? '\\' : take();
  }

  void take_quoted() {
    const int first_line = line_;
    const char quote = take();
    RecipeWord& quoted = word();
    while (at_ < text_.size() && text_[at_] != quote) {
      const bool is_escape = quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() &&
                             (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
      if (is_escape) ++at_;
      quoted.text += take();
    }
    if (at_ == text_.size()) {
      throw UsageError(
          formatted("{}:{}: the quote {} is not closed", printable(name_), first_line, quote));
    }
    take();
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
  RecipeWord word_;
  bool in_word_ = false;
  std::vector<RecipeWord> words_;
};

}  // namespace

std::vector<RecipeWord> recipe_words(std::string_view text, const std::string& name) {
  return Splitter(text, name).run();
}

}  // namespace gpufilter
