#include "stages/limited_file.hpp"
#include "stages/network.hpp"

namespace gpufilter {

Network read_network(const std::string& path) {
  return parse_network(read_stage_bytes(path), path);
}

}  // namespace gpufilter
