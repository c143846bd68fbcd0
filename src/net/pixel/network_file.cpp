#include "net/pixel/network.hpp"
#include "stage/options/limited_file.hpp"

namespace gpufilter {

Network read_network(const std::string& path) {
  return parse_network(read_stage_bytes(path), path);
}

}  // namespace gpufilter
