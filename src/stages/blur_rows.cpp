#include "stages/blur_rows.hpp"

#include <array>
#include <limits>
#include <vector>

namespace gpufilter {
namespace {

// Sums of three samples above each other, for every sample of a row and of one more pixel to either
// side (the border), so that three neighbours of these sums make a window.
template <typename Sample>
class ColumnSums {
 public:
  ColumnSums(int width, int channels, bool weighted)
      : width_(width),
        channels_(static_cast<std::size_t>(channels)),
        plain_((static_cast<std::size_t>(width) + 2) * channels_),
        weighted_(weighted ? plain_.size() : 0) {}

  void compute(const std::array<const Sample*, 3>& rows, Border border) {
    for (std::size_t pixel = 0; pixel < static_cast<std::size_t>(width_); ++pixel) {
      sum_column(rows, pixel, pixel + 1);
    }
    for (const int x : {-1, width_}) {
      const int position = border_position(border, x, width_);
      const auto apron = static_cast<std::size_t>(x + 1);
      if (position < 0) {
        fill_outside(apron);
      } else {
        copy(static_cast<std::size_t>(position) + 1, apron);
      }
    }
  }

  // Sums over the window around sample i of the row (pixel i / channels).
  [[nodiscard]] std::uint32_t plain(std::size_t i) const {
    return plain_[i] + plain_[i + channels_] + plain_[i + 2 * channels_];
  }
  [[nodiscard]] std::uint64_t weighted(std::size_t i) const {
    return weighted_[i] + weighted_[i + channels_] + weighted_[i + 2 * channels_];
  }

 private:
  void sum_column(const std::array<const Sample*, 3>& rows, std::size_t pixel, std::size_t column) {
    const std::size_t from = pixel * channels_;
    for (std::size_t c = 0; c < channels_; ++c) {
      const std::size_t to = column * channels_ + c;
      plain_[to] = std::uint32_t{rows[0][from + c]} + rows[1][from + c] + rows[2][from + c];
      if (weighted_.empty()) continue;
      const std::size_t alpha = from + channels_ - 1;
      weighted_[to] = std::uint64_t{rows[0][from + c]} * rows[0][alpha] +
                      std::uint64_t{rows[1][from + c]} * rows[1][alpha] +
                      std::uint64_t{rows[2][from + c]} * rows[2][alpha];
    }
  }

  void copy(std::size_t from, std::size_t to) {
    for (std::size_t c = 0; c < channels_; ++c) {
      plain_[to * channels_ + c] = plain_[from * channels_ + c];
      if (!weighted_.empty()) weighted_[to * channels_ + c] = weighted_[from * channels_ + c];
    }
  }

  // Three pixels of opaque black.
  void fill_outside(std::size_t column) {
    const bool has_alpha = channels_ % 2 == 0;
    for (std::size_t c = 0; c < channels_; ++c) {
      const bool is_alpha = has_alpha && c == channels_ - 1;
      plain_[column * channels_ + c] = is_alpha ? 3U * std::numeric_limits<Sample>::max() : 0U;
      if (!weighted_.empty()) weighted_[column * channels_ + c] = 0;
    }
  }

  int width_;
  std::size_t channels_;
  std::vector<std::uint32_t> plain_;
  std::vector<std::uint64_t> weighted_;  // sums of colour times alpha; empty when not asked for
};

template <typename Sample>
void store_row(const ColumnSums<Sample>& sums, Sample* out, int width, const PixelFormat& format,
               bool weighted) {
  const auto channels = static_cast<std::size_t>(format.channels);
  const std::size_t samples = static_cast<std::size_t>(width) * channels;
  for (std::size_t i = 0; i < samples; ++i) {
    out[i] = static_cast<Sample>((sums.plain(i) + 4) / 9);
  }
  if (!weighted) return;
  for (std::size_t pixel = 0; pixel < samples; pixel += channels) {
    const std::uint32_t alpha = sums.plain(pixel + channels - 1);
    if (alpha == 0) continue;
    for (std::size_t i = pixel; i < pixel + channels - 1; ++i) {
      out[i] = static_cast<Sample>((sums.weighted(i) + alpha / 2) / alpha);
    }
  }
}

template <typename Sample>
void blur_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
               AlphaMode alpha) {
  const bool weighted = alpha == AlphaMode::weighted && source.format.has_alpha();
  const auto channels = static_cast<std::size_t>(source.format.channels);
  std::vector<Sample> outside(static_cast<std::size_t>(source.width) * channels, Sample{0});
  if (source.format.has_alpha()) {
    for (std::size_t i = channels - 1; i < outside.size(); i += channels) {
      outside[i] = std::numeric_limits<Sample>::max();
    }
  }
  const auto row_at = [&](int y) {
    // Under a wrapping border, rows past the picture's are in `source`.
    const int row = border == Border::wrap ? y : border_position(border, y, height);
    return row < 0 && border == Border::constant ? outside.data()
                                                 : reinterpret_cast<const Sample*>(source.row(row));
  };
  ColumnSums<Sample> sums(source.width, source.format.channels, weighted);
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    sums.compute({row_at(y - 1), row_at(y), row_at(y + 1)}, border);
    store_row(sums, reinterpret_cast<Sample*>(target.row(y)), source.width, source.format,
              weighted);
  }
}

}  // namespace

void blur_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
               AlphaMode alpha) {
  if (source.format.depth == 8) {
    blur_rows<std::uint8_t>(source, target, height, border, alpha);
  } else {
    blur_rows<std::uint16_t>(source, target, height, border, alpha);
  }
}

}  // namespace gpufilter
