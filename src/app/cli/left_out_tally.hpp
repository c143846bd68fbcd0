// What the user is told about what outputs do not have of their inputs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gpufilter {

// Counts over the pictures of a folder.
class LeftOutTally {
 public:
  // RunReport::left_out of a picture, or its RunReport::unread.
  void add(const std::vector<std::string>& names);

  // "gamma (3 pictures)", "XMP (1 picture)": the commonest first.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::map<std::string, std::size_t> pictures_;  // by name
};

// Metadata that an output cannot hold: "not carried over: gamma, XMP"; of more than a few only
// their number. Empty if all was carried over.
[[nodiscard]] std::string left_out_warning(const std::vector<std::string>& names);

}  // namespace gpufilter
