// What the user is told about metadata that outputs cannot hold.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gpufilter {

class LeftOutTally {
 public:
  // RunReport::left_out of a picture.
  void add(const std::vector<std::string>& names);

  // "not carried over: gamma (3 pictures), XMP (1 picture)"; empty if all was carried over. The
  // commonest first; of more than a few only their number.
  [[nodiscard]] std::string warning() const;

 private:
  std::map<std::string, std::size_t> pictures_;  // by name
};

// The same for one picture: "not carried over: gamma, XMP".
[[nodiscard]] std::string left_out_warning(const std::vector<std::string>& names);

}  // namespace gpufilter
