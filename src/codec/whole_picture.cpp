#include "codec/whole_picture.hpp"

#include <cstring>
#include <span>

#include "base/byte_cursor.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "image/exif.hpp"

namespace gpufilter {

Fidelity chosen_fidelity(const Codec& codec, const PictureHeader& header,
                         const WriteOptions& options, int default_quality) {
  const std::string lossless = *options.get<std::string>(lossless_option());
  if (lossless == "always") return {true, 0, "requested"};
  if (const auto quality = options.get<int>(quality_option()))
    return {false, *quality, quality_reason(options)};
  const auto* stored = header.file_format == &codec
                           ? dynamic_cast<const StoredFidelity*>(header.stored.get())
                           : nullptr;
  if (stored != nullptr && stored->is_lossless() && lossless == "auto")
    return {true, 0, "kept from the input"};
  if (stored != nullptr && stored->quality())
    return {false, *stored->quality(), "estimated from the input", true};
  return {false, default_quality, "the default"};
}

namespace {

// The fidelity as notes for reports, with what else is to be said of the file: "lossless
// (requested)", "quality 75 (the default)", "quality about 80 (estimated from the input)".
EncodingNotes notes_on(const Fidelity& fidelity, std::string_view detail) {
  const std::string what =
      fidelity.is_lossless
          ? "lossless"
          : formatted("quality {}{}", fidelity.is_estimated ? "about " : "", fidelity.quality);
  EncodingNotes notes{formatted("{} ({}){}", what, fidelity.reason, detail), {}};
  notes.fields.emplace_back("lossless", fidelity.is_lossless);
  if (!fidelity.is_lossless) notes.fields.emplace_back("quality", fidelity.quality);
  notes.fields.emplace_back("reason", fidelity.reason);
  return notes;
}

constexpr std::size_t offset_size = 4;

}  // namespace

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

WholePictureWriter::WholePictureWriter(const Codec& codec, ByteSink& sink,
                                       const PictureHeader& header, const WriteOptions& options,
                                       Fidelity fidelity, std::uint64_t bytes,
                                       std::string_view detail)
    : sink_(sink),
      fidelity_(std::move(fidelity)),
      codec_(codec),
      kinds_(kept_metadata(options)),
      metadata_(kept_part(header.metadata, kinds_)) {
  check_memory(sink.name(), bytes, {.max_memory = options.max_memory()}, "a " + codec.name,
               "write PNG instead");
  note_private_metadata(header, kinds_);
  notes_ = notes_on(fidelity_, detail);
  log::info(formatted("{}: {}", sink.name(), notes_->text));
}

// Formats whose libraries take whole pictures hold no density, IPTC and text.
void WholePictureWriter::finish(const Metadata& trailing) {
  add_late_metadata(metadata_, kept_part(trailing, kinds_));
  encode();
  note_density(metadata_, left_out_);
  Metadata foreign;
  foreign.image_resources = metadata_.image_resources;
  foreign.text = metadata_.text;
  note_content(foreign, left_out_);
}

void WholePictureWriter::fail(std::string_view why) const {
  throw PictureError(sink_.name(), formatted("cannot be encoded as {}: {}", codec_.name, why));
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
