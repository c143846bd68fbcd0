// The settings that a new TIFF keeps from the one that was read.
#pragma once

#include <cstdint>

#include "codec/codec.hpp"

namespace gpufilter {

class TiffSettings final : public StoredSettings {
 public:
  explicit TiffSettings(std::uint16_t compression) : compression_(compression) {}

  // libtiff's number.
  [[nodiscard]] std::uint16_t compression() const { return compression_; }

 private:
  std::uint16_t compression_;
};

}  // namespace gpufilter
