// Pages of the help on subjects rather than options: docs/ in short.
#pragma once

#include <string>
#include <vector>

namespace gpufilter {

[[nodiscard]] std::vector<std::string> help_topic_names();

// Empty if there is no such topic.
[[nodiscard]] std::string help_topic(const std::string& name);

}  // namespace gpufilter
