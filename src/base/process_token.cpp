#include "base/process_token.hpp"

#include <random>

#include "base/format.hpp"

namespace gpufilter {

const std::string& process_token() {
  static const std::string token = [] {
    std::random_device random;
    return formatted("{:08x}{:08x}", random(), random());
  }();
  return token;
}

}  // namespace gpufilter
