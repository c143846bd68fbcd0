#include "support/svg.hpp"

#include <vector>

namespace gpufilter::test {

std::string objection_to_svg(std::string_view svg) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < svg.size(); ++i) {
    if (svg[i] == '&' && svg.find(';', i) > i + 6) return "a bare & at " + std::to_string(i);
    if (svg[i] != '<') continue;
    const std::size_t end = svg.find('>', i);
    if (end == std::string_view::npos) return "a tag does not end";
    const std::string_view tag = svg.substr(i + 1, end - i - 1);
    if (tag.find('<') != std::string_view::npos) return "a bare <";
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.front() == '/') {
      if (open.empty() || "/" + open.back() != tag) return "</...> without its beginning";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace gpufilter::test
