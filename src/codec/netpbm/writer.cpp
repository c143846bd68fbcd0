#include <string>
#include <vector>

#include "base/format.hpp"
#include "codec/netpbm/codec.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

std::string pam_type(const PixelFormat& format) {
  return formatted("{}{}", format.color_channels() == 1 ? "GRAYSCALE" : "RGB",
                   format.has_alpha() ? "_ALPHA" : "");
}

std::string header_text(const Codec& codec, const ImageSize& size, const PixelFormat& format) {
  if (&codec == &pam_codec()) {
    return formatted("P7\nWIDTH {}\nHEIGHT {}\nDEPTH {}\nMAXVAL {}\nTUPLTYPE {}\nENDHDR\n",
                     size.width, size.height, format.channels, format.max_sample(),
                     pam_type(format));
  }
  return formatted("P{}\n{} {}\n{}\n", format.channels == 1 ? 5 : 6, size.width, size.height,
                   format.max_sample());
}

// None of the formats has a place for metadata but comments, which many readers do not expect.
class NetpbmWriter final : public RowWriter {
 public:
  NetpbmWriter(const Codec& codec, ByteSink& sink, const PictureHeader& header,
               const WriteOptions& options)
      : sink_(sink),
        format_(format_in_file(codec, header.format)),
        conversion_(header.format, format_, header.size.width,
                    *options.get<Color>(background_option())),
        kinds_(kept_metadata(options)) {
    note_private_metadata(header, kinds_);
    const Metadata metadata = kept_part(header.metadata, kinds_);
    if (format_.color_channels() < header.format.color_channels())
      left_out_.add(formatted("colours (a {} is grey)", codec.name));
    if (metadata.icc_profile) left_out_.add("the ICC profile");
    note_color_description(metadata, metadata.icc_profile.has_value(), left_out_);
    note_density(metadata, left_out_);
    note_content(metadata, left_out_);
    const std::string text = header_text(codec, header.size, format_);
    sink_.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

  void write(const ConstRows& rows) override {
    const std::size_t bytes = row_bytes(rows.width, format_);
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      sink_.write({in_file_order(conversion_.convert(rows.row(y)), bytes), bytes});
  }

  void finish(const Metadata& trailing) override {
    note_content(kept_part(trailing, kinds_), left_out_);
  }

 private:
  // Samples of two bytes begin with the more significant one.
  const std::uint8_t* in_file_order(const std::uint8_t* row, std::size_t bytes) {
    if (format_.depth == 8) return row;
    swapped_.assign(row, row + bytes);
    swap_big_endian(swapped_);
    return swapped_.data();
  }

  ByteSink& sink_;
  PixelFormat format_;
  RowConversion conversion_;
  MetadataKinds kinds_;
  std::vector<std::uint8_t> swapped_;
};

}  // namespace

std::unique_ptr<RowWriter> create_netpbm(const Codec& codec, ByteSink& sink,
                                         const PictureHeader& header, const WriteOptions& options) {
  return std::make_unique<NetpbmWriter>(codec, sink, header, options);
}

}  // namespace gpufilter
