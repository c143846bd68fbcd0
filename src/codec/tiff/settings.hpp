// The settings that a new TIFF keeps from the one that was read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "codec/tiff/directory.hpp"

namespace gpufilter {

class TiffSettings final : public StoredSettings {
 public:
  TiffSettings(std::uint16_t compression, TiffTags tags)
      : compression_(compression), tags_(std::move(tags)) {}

  // libtiff's number.
  [[nodiscard]] std::uint16_t compression() const { return compression_; }
  // Tags that may be about places in the picture.
  [[nodiscard]] const TiffTags& tags() const { return tags_; }

  [[nodiscard]] std::vector<std::string> private_metadata() const override {
    return names_of(tags_);
  }

 private:
  std::uint16_t compression_;
  TiffTags tags_;
};

}  // namespace gpufilter
