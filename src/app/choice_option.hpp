// An option whose value is one of a few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/arguments.hpp"
#include "app/parse.hpp"
#include "base/format.hpp"

namespace gpufilter {

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

// Adds an option whose value is one of `choices`. The help shows them and, in brackets, the
// default: the current `value`.
template <typename Value>
void add_choice(Arguments& app, const std::string& name, Value& value,
                const Choices<Value>& choices, const std::string& help) {
  std::vector<std::string> words;
  std::string current;
  for (const auto& [text, choice] : choices) {
    words.push_back(text);
    if (choice == value) current = text;
  }
  app.add_option_function(
         name,
         [&value, choices](const std::string& given) {
           for (const auto& [text, choice] : choices) {
             if (text == given) value = choice;
           }
         },
         help)
      ->check(one_of(words))
      ->option_text(formatted("{} [{}]", fmt::join(words, "|"), current));
}

}  // namespace gpufilter
