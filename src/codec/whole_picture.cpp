#include "codec/whole_picture.hpp"

#include <cstring>
#include <span>

#include "base/byte_cursor.hpp"
#include "base/format.hpp"
#include "image/exif.hpp"

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

void WholePictureReader::read(const MutableRows& rows) {
  if (!image_) image_ = decode();
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    if (next_row_ == rows_) throw *damage_;
    std::memcpy(rows.row(y), image_->rows().row(next_row_++), rows.row_bytes());
  }
}

Metadata WholePictureReader::finish() {
  image_.reset();
  if (damage_) throw *damage_;
  return {};
}

Bytes whole_file(ByteSource& source, std::uint64_t pixel_bytes, const ReadLimits& limits,
                 const std::string& holder, const std::string& remedy) {
  constexpr std::size_t piece_size = std::size_t{1} << 20U;
  Bytes file;
  if (const auto size = source.size()) {
    check_memory(source.name(), *size + pixel_bytes, limits, holder, remedy);
    file.reserve(static_cast<std::size_t>(*size));
  }
  for (;;) {
    const std::size_t before = file.size();
    file.resize(before + piece_size);
    const std::size_t count = source.read(std::span(file).subspan(before));
    file.resize(before + count);
    check_memory(source.name(), file.size() + pixel_bytes, limits, holder, remedy);
    if (count < piece_size) return file;
  }
}

namespace {

constexpr std::size_t offset_size = 4;

}  // namespace

void note_all_but_exif_and_xmp(const Metadata& metadata, LeftOut& left_out) {
  note_density(metadata, left_out);
  Metadata foreign;
  foreign.image_resources = metadata.image_resources;
  foreign.text = metadata.text;
  note_content(foreign, left_out);
}

Bytes exif_from_box(const Bytes& box) {
  if (box.size() <= offset_size) return {};
  const std::uint64_t offset = number_of(std::span(box).first(offset_size));
  if (offset >= box.size() - offset_size) return {};
  Bytes exif(box.begin() + static_cast<std::ptrdiff_t>(offset_size + offset), box.end());
  remove_exif_prefix(exif);
  return exif;
}

Bytes exif_for_box(const Bytes& exif) {
  Bytes box(offset_size, 0);
  box.insert(box.end(), exif.begin(), exif.end());
  return box;
}

}  // namespace gpufilter
