// Whether a file keeps every sample, for formats that offer both.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/codec_table.hpp"

namespace gpufilter {

struct Fidelity {
  bool is_lossless = false;
  int quality = 0;            // if it is not lossless
  std::string reason;         // "requested"
  bool is_estimated = false;  // the quality
};

// lossless_option() if it is "always", then quality_option(). Without a quality, a file of `codec`
// keeps what is known of an input of the same format: it is lossless if the input is and that
// option is "auto", or has the input's quality. Otherwise it has `default_quality`.
[[nodiscard]] Fidelity chosen_fidelity(const Codec& codec, const PictureHeader& header,
                                       const WriteOptions& options, int default_quality);

// "lossless (requested)", "quality 75 (the default)", "quality about 80 (estimated from the input)"
[[nodiscard]] std::string to_string(const Fidelity& fidelity);

// The fidelity as notes for reports, with what else is to be said of the file.
[[nodiscard]] EncodingNotes notes_on(const Fidelity& fidelity, std::string_view detail);

// Readers of these formats store it for chosen_fidelity().
class StoredFidelity final : public StoredSettings {
 public:
  // `quality` is an estimate, on the scale of the writer of the same format.
  explicit StoredFidelity(bool is_lossless, std::optional<int> quality = std::nullopt)
      : is_lossless_(is_lossless), quality_(quality) {}
  [[nodiscard]] bool is_lossless() const { return is_lossless_; }
  [[nodiscard]] std::optional<int> quality() const { return quality_; }
  [[nodiscard]] std::string coding() const override;

 private:
  bool is_lossless_;
  std::optional<int> quality_;
};

}  // namespace gpufilter
