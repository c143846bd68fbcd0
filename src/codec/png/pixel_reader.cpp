#include "codec/png/pixel_reader.hpp"

#include "codec/png/piece_reader.hpp"
#include "codec/png/serial_reader.hpp"

namespace gpufilter {

PngPixelReader::PngPixelReader(PngStream& stream, ImageSize size, const PixelFormat& format)
    : stream_(stream), shape_(size, format) {}

PngPixelReader::~PngPixelReader() = default;

void PngPixelReader::read(const MutableRows& rows) {
  if (!pieces_ && !serial_) begin();
  for (int y = rows.rows.begin; y < rows.rows.end; ++y)
    read_row(rows.row(y));
}

void PngPixelReader::begin() {
  const auto rows_a_piece = stream_.ancillary().rows_a_piece();
  const bool worthwhile = shape_.is_large() || stream_.decoder() == PngDecoder::pieces;
  if (worthwhile && rows_a_piece && PngPieceReader::suits(shape_, *rows_a_piece)) {
    pieces_ = std::make_unique<PngPieceReader>(stream_, shape_, *rows_a_piece);
  } else {
    serial_ = std::make_unique<PngSerialReader>(stream_, shape_);
  }
}

void PngPixelReader::read_row(std::uint8_t* row) {
  if (pieces_) {
    if (pieces_->read(row)) return;
    serial_ = std::make_unique<PngSerialReader>(stream_, shape_, pieces_->give_up());
    pieces_.reset();
  }
  serial_->read(row);
}

}  // namespace gpufilter
