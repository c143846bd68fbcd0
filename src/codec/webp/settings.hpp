// What a new WebP keeps of the one that was read.
#pragma once

#include "codec/codec.hpp"

namespace gpufilter {

class WebpSettings final : public StoredSettings {
 public:
  explicit WebpSettings(bool is_lossless) : is_lossless_(is_lossless) {}
  [[nodiscard]] bool is_lossless() const { return is_lossless_; }

 private:
  bool is_lossless_;
};

}  // namespace gpufilter
