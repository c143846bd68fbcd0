#include "codec/fidelity.hpp"

#include "base/format.hpp"

namespace gpufilter {

const WriteOption& lossless_option() {
  static const WriteOption option{
      "lossless", WriteOption::Flag{}, "off",
      "Keep every sample in WebP, JPEG XL, AVIF and HEIC output. A "
      "lossless input of the same format stays lossless unless --quality "
      "is given."};
  return option;
}

Fidelity chosen_fidelity(const Codec& codec, const PictureHeader& header,
                         const WriteOptions& options, int default_quality) {
  if (*options.get<bool>(lossless_option())) return {true, 0, "asked for"};
  if (const auto quality = options.get<int>(quality_option()))
    return {false, *quality, "asked for"};
  const auto* stored = dynamic_cast<const StoredFidelity*>(header.stored.get());
  if (header.file_format == &codec && stored != nullptr && stored->is_lossless())
    return {true, 0, "kept from the input"};
  return {false, default_quality, "the default"};
}

std::string to_string(const Fidelity& fidelity) {
  const std::string what =
      fidelity.is_lossless ? "lossless" : formatted("quality {}", fidelity.quality);
  return formatted("{} ({})", what, fidelity.reason);
}

}  // namespace gpufilter
