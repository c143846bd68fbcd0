#include "codec/fidelity.hpp"

#include "base/format.hpp"

namespace gpufilter {

Fidelity chosen_fidelity(const Codec& codec, const PictureHeader& header,
                         const WriteOptions& options, int default_quality) {
  const std::string lossless = *options.get<std::string>(lossless_option());
  if (lossless == "always") return {true, 0, "requested"};
  if (const auto quality = options.get<int>(quality_option()))
    return {false, *quality, "requested"};
  const auto* stored = header.file_format == &codec
                           ? dynamic_cast<const StoredFidelity*>(header.stored.get())
                           : nullptr;
  if (stored != nullptr && stored->is_lossless() && lossless == "auto")
    return {true, 0, "kept from the input"};
  if (stored != nullptr && stored->quality())
    return {false, *stored->quality(), "estimated from the input", true};
  return {false, default_quality, "the default"};
}

std::string to_string(const Fidelity& fidelity) {
  const std::string what =
      fidelity.is_lossless
          ? "lossless"
          : formatted("quality {}{}", fidelity.is_estimated ? "about " : "", fidelity.quality);
  return formatted("{} ({})", what, fidelity.reason);
}

EncodingNotes notes_on(const Fidelity& fidelity, std::string_view detail) {
  EncodingNotes notes{formatted("{}{}", to_string(fidelity), detail), {}};
  notes.fields.emplace_back("lossless", fidelity.is_lossless);
  if (!fidelity.is_lossless) notes.fields.emplace_back("quality", fidelity.quality);
  notes.fields.emplace_back("reason", fidelity.reason);
  return notes;
}

std::string StoredFidelity::coding() const {
  if (is_lossless_) return "lossless";
  return quality_ ? formatted("about quality {}", *quality_) : "";
}

}  // namespace gpufilter
