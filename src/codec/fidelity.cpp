#include "codec/fidelity.hpp"

#include "base/format.hpp"

namespace gpufilter {

Fidelity chosen_fidelity(const Codec& codec, const PictureHeader& header,
                         const WriteOptions& options, int default_quality) {
  const std::string lossless = *options.get<std::string>(lossless_option());
  if (lossless == "always") return {true, 0, "asked for"};
  if (const auto quality = options.get<int>(quality_option()))
    return {false, *quality, "asked for"};
  const auto* stored = dynamic_cast<const StoredFidelity*>(header.stored.get());
  if (lossless == "auto" && header.file_format == &codec && stored != nullptr &&
      stored->is_lossless())
    return {true, 0, "kept from the input"};
  return {false, default_quality, "the default"};
}

std::string to_string(const Fidelity& fidelity) {
  const std::string what =
      fidelity.is_lossless ? "lossless" : formatted("quality {}", fidelity.quality);
  return formatted("{} ({})", what, fidelity.reason);
}

}  // namespace gpufilter
