#include "base/format.hpp"

namespace gpufilter {

std::string vformatted(fmt::string_view text, fmt::format_args arguments) {
  return fmt::vformat(text, arguments);
}

}  // namespace gpufilter
