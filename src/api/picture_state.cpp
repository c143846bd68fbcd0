#include "api/picture_state.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

struct Extent {
  std::uintptr_t begin;
  std::uintptr_t end;
};

Extent extent_of(const ConstRows& rows) {
  const auto begin = reinterpret_cast<std::uintptr_t>(rows.data);
  return {begin,
          begin + rows.pitch * static_cast<std::size_t>(rows.rows.count() - 1) + rows.row_bytes()};
}

}  // namespace

PictureState& existing(Picture& picture) {
  PictureState* const state = PictureAccess::state(picture);
  if (state == nullptr) throw UsageError("a picture without pixels");
  return *state;
}

const PictureState& existing(const Picture& picture) {
  const PictureState* const state = PictureAccess::state(picture);
  if (state == nullptr) throw UsageError("a picture without pixels");
  return *state;
}

PictureShape checked_shape(const Shape& shape) {
  if (shape.width < 1 || shape.height < 1) {
    throw UsageError(
        formatted("a picture of {} x {} pixels has no pixels", shape.width, shape.height));
  }
  if (shape.channels < 1 || shape.channels > 4) {
    throw UsageError(
        formatted("{} channels; a picture has 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA)",
                  shape.channels));
  }
  if (shape.depth != 8 && shape.depth != 16 && shape.depth != float_depth)
    throw UsageError(formatted("samples of {} bits; choose 8, 16 or 32 (float)", shape.depth));
  const double bytes = shape.depth / 8.0 * shape.channels * shape.width * shape.height;
  if (bytes > static_cast<double>(std::numeric_limits<std::ptrdiff_t>::max())) {
    throw UsageError(formatted("a picture of {} x {} pixels: no memory is that large", shape.width,
                               shape.height));
  }
  return {{shape.width, shape.height}, {shape.channels, shape.depth}};
}

void refuse_floats(const PictureShape& shape, std::string_view work) {
  if (shape.format.is_float())
    throw UsageError(
        formatted("{} takes no floating-point samples; filter by depth 16 first", work));
}

Shape public_shape(const PictureShape& shape) {
  return {shape.size.width, shape.size.height, shape.format.channels, shape.format.depth};
}

std::string text_of(const PictureShape& shape) {
  return formatted("{} x {}, {}", shape.size.width, shape.size.height, to_string(shape.format));
}

ConstRows rows_of(const ConstView& view) {
  const PictureShape shape = checked_shape(view.shape());
  if (view.data == nullptr) throw UsageError("a view without memory: data is nullptr");
  const std::size_t row = row_bytes(shape.size.width, shape.format);
  const std::size_t pitch = view.pitch == 0 ? row : view.pitch;
  if (pitch < row) {
    throw UsageError(
        formatted("a pitch of {} bytes; a row of {} takes {}", pitch, text_of(shape), row));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  const std::size_t sample = shape.format.bytes_per_sample();
  if (address % sample != 0 || pitch % sample != 0) {
    throw UsageError(
        formatted("samples of {} bits at addresses that are not multiples of {}; copy them",
                  shape.format.depth, sample));
  }
  if (pitch > (std::numeric_limits<std::size_t>::max() - address) /
                  static_cast<std::size_t>(shape.size.height)) {
    throw UsageError(formatted("a pitch of {} bytes for {} rows: no memory is that large", pitch,
                               shape.size.height));
  }
  return {static_cast<const std::uint8_t*>(view.data),
          pitch,
          {0, shape.size.height},
          shape.size.width,
          shape.format};
}

MutableRows rows_of(const View& view) {
  const ConstRows rows = rows_of(static_cast<ConstView>(view));
  return {static_cast<std::uint8_t*>(view.data), rows.pitch, rows.rows, rows.width, rows.format};
}

bool overlap(const ConstRows& a, const ConstRows& b) {
  const Extent first = extent_of(a);
  const Extent second = extent_of(b);
  return first.begin < second.end && second.begin < first.end;
}

}  // namespace gpufilter
