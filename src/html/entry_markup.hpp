// The markup of one entry of a page.
#pragma once

#include "html/page.hpp"

namespace gpufilter::html {

// The name of a tone in the style sheet.
[[nodiscard]] const char* class_of(Tone tone);

// "<dl>"; empty if there are no facts.
[[nodiscard]] std::string markup_of(const std::vector<Fact>& facts);

// Everything about the entry: the pictures, what is known of them, their histograms.
[[nodiscard]] std::string detail_markup(const Entry& entry);

// Its place in a grid, with the detail in a template; `index` is its number on the page.
[[nodiscard]] std::string card_markup(const Entry& entry, std::size_t index);

}  // namespace gpufilter::html
