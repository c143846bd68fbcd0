#include "peer_fpnge.hpp"

#include <vector>

#include <fpnge.h>

namespace gpufilter::bench {

std::size_t fpnge_size(const Image& image, int level) {
  FPNGEOptions options;
  FPNGEFillOptions(&options, level, FPNGE_CICP_NONE);
  const auto channels = static_cast<std::size_t>(image.format().channels);
  const auto width = static_cast<std::size_t>(image.size().width);
  const auto height = static_cast<std::size_t>(image.size().height);
  static std::vector<unsigned char> file;
  file.resize(FPNGEOutputAllocSize(1, channels, width, height));
  return FPNGEEncode(1, channels, image.rows().row(0), width, image.pitch(), height, file.data(),
                     &options);
}

}  // namespace gpufilter::bench
