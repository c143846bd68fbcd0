// Pixels in memory: views of the caller's memory, and pictures that own theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gpufilter/error.hpp>

namespace gpufilter {

// The size and format of a picture without its pixels.
struct Shape {
  int width = 0;     // pixels
  int height = 0;    // pixels
  int channels = 3;  // 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA)
  int depth = 8;     // bits per sample: 8 or 16; 32: floats, nominally 0 to 1
  // Whether size and format are the same.
  bool operator==(const Shape&) const = default;
};

// Pixels to read, in memory of the caller: the samples of a pixel side by side, the pixels of a row
// side by side, rows from top to bottom. Samples are in the machine's byte order and begin at
// multiples of their size. Alpha is not premultiplied.
struct ConstView {
  const void* data = nullptr;  // the first sample of the first row
  int width = 0;               // pixels
  int height = 0;              // pixels
  int channels = 3;            // as in Shape
  int depth = 8;               // as in Shape
  std::size_t pitch = 0;       // bytes from one row to the next; 0: no gap between rows

  // The view without its memory.
  [[nodiscard]] Shape shape() const { return {width, height, channels, depth}; }
};

// Pixels to write, stored as in ConstView. Bytes between the rows are never touched.
struct View {
  void* data = nullptr;   // the first sample of the first row
  int width = 0;          // pixels
  int height = 0;         // pixels
  int channels = 3;       // as in Shape
  int depth = 8;          // as in Shape
  std::size_t pitch = 0;  // bytes from one row to the next; 0: no gap between rows

  // The view without its memory.
  [[nodiscard]] Shape shape() const { return {width, height, channels, depth}; }
  // A writable view converts to a read-only one.
  operator ConstView() const {  // NOLINT(google-explicit-constructor): as pointers convert
    return {data, width, height, channels, depth, pitch};
  }
};

// How densely a picture is printed.
struct PixelsPerInch {
  double x = 0;  // across
  double y = 0;  // down
  // Whether both are the same.
  bool operator==(const PixelsPerInch&) const = default;
};

// A view of the samples in a vector or an array: std::uint8_t, std::uint16_t or float, without gaps
// between rows. Throws UsageError if they are too few.
template <typename Sample, std::size_t extent>
[[nodiscard]] auto view_of(std::span<Sample, extent> samples, int width, int height,
                           int channels = 3) {
  using Value = std::remove_const_t<Sample>;
  static_assert(std::is_same_v<Value, std::uint8_t> || std::is_same_v<Value, std::uint16_t> ||
                std::is_same_v<Value, float>);
  const auto side = [](int pixels) { return static_cast<std::size_t>(pixels < 0 ? 0 : pixels); };
  const std::size_t row = side(width) * side(channels);
  if (row != 0 && samples.size() / row < side(height))
    throw UsageError("a view of more samples than there are");
  using Kind = std::conditional_t<std::is_const_v<Sample>, ConstView, View>;
  return Kind{samples.data(), width, height, channels, static_cast<int>(8 * sizeof(Sample))};
}

// A picture that owns its pixels. One from a file also carries the file's metadata (colour profile,
// EXIF, ...) and settings, for write() and for filters that depend on them. Move-only; copy() makes
// a copy. Different pictures may be used by different threads.
class Picture {
 public:
  // No pixels: width and height are 0.
  Picture() noexcept;
  // All samples are 0. Throws UsageError if the shape is not that of a picture, std::bad_alloc.
  explicit Picture(const Shape& shape);
  // A copy of `pixels`, without metadata. Throws UsageError as above, std::bad_alloc.
  explicit Picture(const ConstView& pixels);
  // Frees the pixels.
  ~Picture();
  // The other picture has no pixels afterwards.
  Picture(Picture&& other) noexcept;
  // The other picture has no pixels afterwards.
  Picture& operator=(Picture&& other) noexcept;

  // A copy of pixels and metadata. Throws std::bad_alloc.
  [[nodiscard]] Picture copy() const;

  // The picture's size and format.
  [[nodiscard]] Shape shape() const noexcept;
  // Pixels in a row.
  [[nodiscard]] int width() const noexcept { return shape().width; }
  // Rows.
  [[nodiscard]] int height() const noexcept { return shape().height; }
  // Samples of a pixel, 1 to 4.
  [[nodiscard]] int channels() const noexcept { return shape().channels; }
  // Bits per sample: 8, 16 or 32.
  [[nodiscard]] int depth() const noexcept { return shape().depth; }
  // Bytes from one row to the next: the size of a row's samples, without a gap.
  [[nodiscard]] std::size_t pitch() const noexcept;
  // The first sample; nullptr if there are no pixels.
  [[nodiscard]] void* data() noexcept;
  // The first sample; nullptr if there are no pixels.
  [[nodiscard]] const void* data() const noexcept;

  // The samples of row `y`, 0 <= y < height: std::uint8_t, std::uint16_t or float, by depth().
  template <typename Sample>
  [[nodiscard]] Sample* row(int y) noexcept {
    return reinterpret_cast<Sample*>(static_cast<char*>(data()) +
                                     static_cast<std::size_t>(y) * pitch());
  }
  // The samples of row `y`, 0 <= y < height: std::uint8_t, std::uint16_t or float, by depth().
  template <typename Sample>
  [[nodiscard]] const Sample* row(int y) const noexcept {
    return reinterpret_cast<const Sample*>(static_cast<const char*>(data()) +
                                           static_cast<std::size_t>(y) * pitch());
  }

  // Its pixels, as long as it exists and is not assigned to.
  [[nodiscard]] View view() noexcept;
  // Its pixels, as long as it exists and is not assigned to.
  [[nodiscard]] ConstView view() const noexcept;
  // A picture converts to a view of its pixels.
  operator ConstView() const noexcept {  // NOLINT(google-explicit-constructor): see above
    return view();
  }

  // The format of the file that it was read from, or its source was: "PNG"; empty if there is none.
  [[nodiscard]] std::string file_format() const;

  // Its EXIF orientation, 1 to 8; 1 (upright) if there is none.
  [[nodiscard]] int orientation() const;
  // Its EXIF, a TIFF structure; empty if there is none.
  [[nodiscard]] std::vector<std::uint8_t> exif() const;
  // Its colour profile, as the ICC defines it; empty if there is none.
  [[nodiscard]] std::vector<std::uint8_t> icc() const;
  // Its XMP packet; empty if there is none.
  [[nodiscard]] std::vector<std::uint8_t> xmp() const;
  // Nothing if it is not known.
  [[nodiscard]] std::optional<PixelsPerInch> density() const;

  // Each replaces the metadata of its kind; an empty value removes them. Pixels do not change. They
  // throw UsageError if there are no pixels or the metadata are invalid, and std::bad_alloc.
  void set_orientation(int orientation);
  // Replaces the EXIF. It may begin with "Exif", as in a JPEG; a thumbnail is left out.
  void set_exif(std::span<const std::uint8_t> exif);
  // Replaces all that says what colours the samples mean. The profile is for RGB or for grey, as
  // the picture is.
  void set_icc(std::span<const std::uint8_t> profile);
  // Replaces the XMP packet.
  void set_xmp(std::span<const std::uint8_t> xmp);
  // Replaces the density.
  void set_density(const std::optional<PixelsPerInch>& density);

  // All metadata and the format of the file, for set_metadata() in another process, of the same
  // version of the library. Empty if there are no pixels.
  [[nodiscard]] std::vector<std::uint8_t> metadata() const;
  // Replaces all metadata. Throws as above.
  void set_metadata(std::span<const std::uint8_t> metadata);

 private:
  struct State;
  friend struct PictureAccess;
  explicit Picture(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
