#include "pipeline/execute/kept_picture.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/byte_source.hpp"
#include "host/turn_rows.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

std::string folder_for_files() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  return error ? "the folder for temporary files" : folder.string();
}

}  // namespace

KeptPicture::KeptPicture(const PictureShape& source, const Turn& turn, int band_rows,
                         bool in_memory, std::string name)
    : source_height_(source.size.height),
      turn_(turn),
      shape_{turn.size_of(source.size), source.format},
      band_rows_(band_rows),
      name_(std::move(name)) {
  if (in_memory) {
    memory_ = allocate_image_memory(bytes_of(source));
  } else {
    make_file();
  }
}

template <typename Step>
void KeptPicture::guarded(const Step& step) const {
  try {
    step();
  } catch (const std::system_error& error) {
    fail(error.code().value());
  }
}

// The whole file is allocated at once, so that a full disk is noticed before any work.
void KeptPicture::make_file() {
  guarded([this] { file_ = nameless_file(); });
  const auto bytes = static_cast<off_t>(bytes_of(shape_));
  int error = EINTR;
  while (error == EINTR)
    error = ::posix_fallocate(file_.get(), 0, bytes);
  if (error != 0) fail(error);
}

std::uint64_t KeptPicture::bytes_of(const PictureShape& picture) {
  return picture.size.pixels() * picture.format.bytes_per_pixel();
}

std::uint64_t KeptPicture::row_bytes(int width) const {
  return static_cast<std::uint64_t>(width) * shape_.format.bytes_per_pixel();
}

void KeptPicture::add(const ConstRows& band) {
  const int rows = band.rows.count();
  const ImageSize size = turn_.size_of({band.width, rows});
  const int first = turn_.mirrors_y ? source_height_ - band.rows.end : band.rows.begin;
  const std::uint64_t offset = static_cast<std::uint64_t>(first) * row_bytes(band.width);
  const auto turn_to = [&](std::uint8_t* bytes) {
    turn_rows(band, turn_,
              {bytes,
               static_cast<std::size_t>(row_bytes(size.width)),
               {0, size.height},
               size.width,
               band.format});
  };
  if (memory_) return turn_to(memory_.get() + offset);
  std::vector<std::uint8_t> block(size.pixels() * band.format.bytes_per_pixel());
  turn_to(block.data());
  guarded([&] { write_fully_at(file_.get(), offset, block); });
}

void KeptPicture::read(const MutableRows& target) const {
  std::vector<std::uint8_t> scratch;
  const auto rows = static_cast<std::uint64_t>(target.rows.count());
  // The columns of a block, or all.
  const auto read_block = [&](int begin, int end) {
    const std::uint64_t width = row_bytes(end - begin);
    const std::uint64_t block = row_bytes(begin) * static_cast<unsigned>(shape_.size.height);
    const std::uint8_t* from =
        stretch(block + width * static_cast<unsigned>(target.rows.begin), width * rows, scratch);
    for (int y = target.rows.begin; y < target.rows.end; ++y, from += width)
      std::memcpy(target.row(y) + row_bytes(begin), from, width);
  };
  if (!turn_.swaps) return read_block(0, shape_.size.width);
  for (int y = 0; y < source_height_; y += band_rows_) {
    const int end = std::min(y + band_rows_, source_height_);
    turn_.mirrors_y ? read_block(source_height_ - end, source_height_ - y) : read_block(y, end);
  }
}

// Bytes in memory, or read into `scratch`.
const std::uint8_t* KeptPicture::stretch(std::uint64_t offset, std::uint64_t count,
                                         std::vector<std::uint8_t>& scratch) const {
  if (memory_) return memory_.get() + offset;
  scratch.resize(count);
  guarded([&] {
    if (read_fully_at(file_.get(), offset, scratch) < count) fail(EIO);
  });
  return scratch.data();
}

void KeptPicture::fail(int error) const {
  throw PictureError(
      name_, formatted("it has to be kept whole, {:.0f} MB in a temporary file, which fails in {}: "
                       "{}; raise --max-memory or set TMPDIR to another folder",
                       static_cast<double>(bytes_of(shape_)) / 1e6, folder_for_files(),
                       describe_system_error(error)));
}

KeptReader::KeptReader(const KeptPicture& picture) : picture_(picture) {
  header_.set_shape(picture.shape());
}

// `rows` may be numbered differently from the picture.
void KeptReader::read(const MutableRows& rows) {
  picture_.read(rows.renumbered(next_ - rows.rows.begin));
  next_ += rows.rows.count();
}

}  // namespace gpufilter
