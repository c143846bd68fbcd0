#include <cstring>
#include <utility>

#include "api/picture_state.hpp"
#include "base/numbers.hpp"
#include "codec/codec_table.hpp"
#include "image/image.hpp"

namespace gpufilter {

Picture::State::State(const PictureShape& picture)
    : State(picture, allocate_image_memory(bytes_of(picture))) {}

Picture::State::State(const PictureShape& picture, std::shared_ptr<std::uint8_t> pixels)
    : shape(picture), memory(std::move(pixels)) {
  header.size = shape.size;
  header.format = shape.format;
  header.file_pixels = file_pixels(shape.format);
}

std::size_t Picture::State::bytes_of(const PictureShape& picture) {
  return checked_multiply(
      static_cast<std::size_t>(picture.size.width) * static_cast<std::size_t>(picture.size.height),
      picture.format.bytes_per_pixel());
}

Picture::Picture() noexcept = default;
Picture::~Picture() = default;
Picture::Picture(Picture&& other) noexcept = default;
Picture& Picture::operator=(Picture&& other) noexcept = default;
Picture::Picture(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Picture::Picture(const Shape& shape) : state_(std::make_unique<State>(checked_shape(shape))) {
  const MutableRows rows = state_->rows();
  std::memset(rows.data, 0, rows.pitch * static_cast<std::size_t>(rows.rows.count()));
}

Picture::Picture(const ConstView& pixels) {
  const ConstRows from = rows_of(pixels);
  state_ = std::make_unique<State>(shape_of(from));
  copy_pixels(from, state_->rows());
}

Picture Picture::copy() const {
  if (!state_) return {};
  Picture twin{view()};
  twin.state_->header = state_->header;
  twin.state_->trailing = state_->trailing;
  return twin;
}

Shape Picture::shape() const noexcept {
  return state_ ? public_shape(state_->shape) : Shape{};
}

std::size_t Picture::pitch() const noexcept {
  return state_ ? state_->pitch() : 0;
}

void* Picture::data() noexcept {
  return state_ ? state_->memory.get() : nullptr;
}

const void* Picture::data() const noexcept {
  return state_ ? state_->memory.get() : nullptr;
}

View Picture::view() noexcept {
  const Shape own = shape();
  return {data(), own.width, own.height, own.channels, own.depth, pitch()};
}

ConstView Picture::view() const noexcept {
  const Shape own = shape();
  return {data(), own.width, own.height, own.channels, own.depth, pitch()};
}

std::string Picture::file_format() const {
  return state_ && state_->header.file_format != nullptr ? state_->header.file_format->name : "";
}

}  // namespace gpufilter
