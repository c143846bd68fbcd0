// What the writers of WebP, JPEG XL, HEIC and AVIF have in common: their libraries encode a picture
// once all of its rows are there, and hold metadata as EXIF, XMP and an ICC profile.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/codec_table.hpp"
#include "codec/exif_and_xmp.hpp"
#include "codec/fidelity.hpp"
#include "codec/read_limits.hpp"

namespace gpufilter {

class WholePictureWriter : public RowWriter {
 public:
  // Encodes the picture.
  void finish(const Metadata& trailing) final {
    add_late_metadata(metadata_, kept_part(trailing, kinds_));
    encode();
    note_all_but_exif_and_xmp(metadata_, left_out_);
  }

 protected:
  // The picture and the encoder take `bytes` of memory. `detail` follows the fidelity in reports.
  // Throws PictureError if the options do not allow so much memory.
  WholePictureWriter(const Codec& codec, ByteSink& sink, const PictureHeader& header,
                     const WriteOptions& options, Fidelity fidelity, std::uint64_t bytes,
                     std::string_view detail = "")
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

  // Writes the file, with metadata(), and names the descriptions of colours that it cannot hold.
  virtual void encode() = 0;

  [[noreturn]] void fail(std::string_view why) const {
    throw PictureError(sink_.name(), formatted("cannot be encoded as {}: {}", codec_.name, why));
  }
  // The metadata to write. Complete in encode().
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }

  ByteSink& sink_;
  const Fidelity fidelity_;
  int next_row_ = 0;

 private:
  const Codec& codec_;
  MetadataKinds kinds_;
  Metadata metadata_;
};

}  // namespace gpufilter
