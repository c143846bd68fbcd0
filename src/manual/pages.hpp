// Manual pages, in the language of man(7).
#pragma once

#include <string>
#include <vector>

#include "manual/declared.hpp"

namespace gpufilter::manual {

struct Page {
  std::string file;  // "gpufilter-stats.1"
  std::string text;
};

// One for the program, which explains the stages too, and one for each subcommand with all its
// variants. `date` is that of the program, "2026-01-31".
[[nodiscard]] std::vector<Page> manual_pages(const std::vector<DeclaredCommand>& commands,
                                             const std::string& date);

}  // namespace gpufilter::manual
