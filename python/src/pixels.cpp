#include "pixels.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include <gpufilter/error.hpp>

#include "calls.hpp"

namespace py = pybind11;

namespace gpufilter::python {
namespace {

// The description without data and pitch.
View described(const Layout& layout) {
  if (layout.type != "uint8" && layout.type != "uint16" && layout.type != "float32")
    throw UsageError("the samples are " + layout.type +
                     "; convert them to uint8, uint16 or float32");
  const auto& shape = layout.shape;
  const bool has_channels = shape.size() == 3;
  if ((shape.size() != 2 && !has_channels) || (has_channels && (shape[2] < 1 || shape[2] > 4))) {
    throw UsageError("the shape is " + shape_text(shape) +
                     "; a picture has (height, width) or (height, width, 1 to 4 channels)");
  }
  constexpr py::ssize_t largest = std::numeric_limits<int>::max();
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > largest || shape[1] > largest)
    throw UsageError("the shape is " + shape_text(shape) +
                     "; there has to be a pixel, and no side above 2147483647");
  return {.width = static_cast<int>(shape[1]),
          .height = static_cast<int>(shape[0]),
          .channels = has_channels ? static_cast<int>(shape[2]) : 1,
          .depth = static_cast<int>(8 * layout.size)};
}

// Whether channels and pixels are adjacent and rows do not overlap. The distance along an axis of
// length 1 is never used, so it may be anything.
bool is_readable_in_place(const Layout& layout) {
  const auto size = static_cast<py::ssize_t>(layout.size);
  const auto& shape = layout.shape;
  const auto& strides = layout.strides;
  const py::ssize_t channels = shape.size() == 3 ? shape[2] : 1;
  if (channels > 1 && strides[2] != size) return false;
  if (shape[1] > 1 && strides[1] != channels * size) return false;
  if (shape[0] > 1 && strides[0] < shape[1] * channels * size) return false;
  return reinterpret_cast<std::uintptr_t>(layout.data) % layout.size == 0 &&
         (shape[0] == 1 || strides[0] % size == 0);
}

std::size_t pitch_of(const Layout& layout) {
  return layout.shape[0] > 1 ? static_cast<std::size_t>(layout.strides[0]) : 0;
}

template <typename Sample>
void copy_samples(const Layout& layout, std::byte* target) {
  const bool has_channels = layout.shape.size() == 3;
  const py::ssize_t channels = has_channels ? layout.shape[2] : 1;
  const py::ssize_t between_channels = has_channels ? layout.strides[2] : 0;
  for (py::ssize_t y = 0; y < layout.shape[0]; ++y) {
    const std::byte* pixel = layout.data + y * layout.strides[0];
    for (py::ssize_t x = 0; x < layout.shape[1]; ++x, pixel += layout.strides[1]) {
      for (py::ssize_t channel = 0; channel < channels; ++channel, target += sizeof(Sample))
        std::memcpy(target, pixel + channel * between_channels, sizeof(Sample));
    }
  }
}

std::vector<std::byte> packed(const Layout& layout, const View& view) {
  std::vector<std::byte> copy(static_cast<std::size_t>(view.width) *
                              static_cast<std::size_t>(view.height) *
                              static_cast<std::size_t>(view.channels) * layout.size);
  const WithoutGil others_may_run;
  if (layout.size == 1) {
    copy_samples<std::uint8_t>(layout, copy.data());
  } else if (layout.size == 2) {
    copy_samples<std::uint16_t>(layout, copy.data());
  } else {
    copy_samples<float>(layout, copy.data());
  }
  return copy;
}

}  // namespace

Source::Source(py::handle object) : memory_(object) {
  const Layout& layout = memory_.layout();
  View view = described(layout);
  if (is_readable_in_place(layout)) {
    view.data = layout.data;
    view.pitch = pitch_of(layout);
  } else {
    copy_ = packed(layout, view);
    view.data = copy_.data();
  }
  view_ = view;
}

Target::Target(py::handle object) : memory_(object) {
  const Layout& layout = memory_.layout();
  if (layout.is_read_only) throw UsageError("out: the memory is read-only");
  view_ = described(layout);
  if (!is_readable_in_place(layout)) {
    throw UsageError("out: the strides are " + shape_text(layout.strides) +
                     "; samples of a pixel, and pixels of a row, have to be adjacent");
  }
  view_.data = layout.data;
  view_.pitch = pitch_of(layout);
}

}  // namespace gpufilter::python
