// Whether a file keeps every sample, for formats that offer both.
#pragma once

#include <string>

#include "codec/codec_table.hpp"

namespace gpufilter {

struct Fidelity {
  bool is_lossless = false;
  int quality = 0;     // if it is not lossless
  std::string reason;  // "asked for"
};

// lossless_option() if it is "always", then quality_option(). Without a quality, a file of `codec`
// is lossless if the input is a lossless file of the same format and that option is "auto", and
// otherwise has `default_quality`.
[[nodiscard]] Fidelity chosen_fidelity(const Codec& codec, const PictureHeader& header,
                                       const WriteOptions& options, int default_quality);

// "lossless (asked for)", "quality 75 (the default)"
[[nodiscard]] std::string to_string(const Fidelity& fidelity);

// Readers of these formats store it for chosen_fidelity().
class StoredFidelity final : public StoredSettings {
 public:
  explicit StoredFidelity(bool is_lossless) : is_lossless_(is_lossless) {}
  [[nodiscard]] bool is_lossless() const { return is_lossless_; }

 private:
  bool is_lossless_;
};

}  // namespace gpufilter
