// Formats whose libraries decode and encode whole pictures, and may keep every sample or not.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "codec/read_limits.hpp"
#include "codec/unread.hpp"
#include "image/image.hpp"
#include "image/metadata.hpp"

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

// EXIF as boxes of ISO base media files hold it, after the offset of its TIFF structure (4 bytes).
// Without JPEG's prefix, which some programs leave there. Nothing if the offset points outside.
[[nodiscard]] Bytes exif_from_box(const Bytes& box);
[[nodiscard]] Bytes exif_for_box(const Bytes& exif);

class WholePictureReader : public RowReader {
 public:
  void read(const MutableRows& rows) final;
  Metadata finish() override;

 protected:
  // Called once, with the first rows: a caller may want only the header.
  [[nodiscard]] virtual Image decode() = 0;

  // In decode(), for a damaged picture that is kept: only the first rows have been decoded.
  void end_at(int rows, PictureError damage) {
    rows_ = rows;
    damage_ = std::move(damage);
  }

 private:
  std::optional<Image> image_;
  int next_row_ = 0;
  int rows_ = std::numeric_limits<int>::max();
  std::optional<PictureError> damage_;  // throws, behind these rows
};

// All bytes of `source`. Throws PictureError if they and `pixel_bytes` are more than the memory
// limit; `holder` and `remedy` are as in check_memory().
[[nodiscard]] Bytes whole_file(ByteSource& source, std::uint64_t pixel_bytes,
                               const ReadLimits& limits, const std::string& holder,
                               const std::string& remedy);

class WholePictureWriter : public RowWriter {
 public:
  // Encodes the picture.
  void finish(const Metadata& trailing) final;

 protected:
  // The picture and the encoder take `bytes` of memory. `detail` follows the fidelity in reports.
  // Throws PictureError if the options do not allow so much memory.
  WholePictureWriter(const Codec& codec, ByteSink& sink, const PictureHeader& header,
                     const WriteOptions& options, Fidelity fidelity, std::uint64_t bytes,
                     std::string_view detail = "");

  // Writes the file, with metadata(), and names the descriptions of colours that it cannot hold.
  virtual void encode() = 0;

  [[noreturn]] void fail(std::string_view why) const;
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
