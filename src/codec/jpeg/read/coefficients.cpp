#include "codec/jpeg/read/coefficients.hpp"

#include <algorithm>

#include "codec/jpeg/read/decompressor.hpp"

namespace gpufilter {

JpegCoefficients::Component::Component(std::size_t blocks_a_row, std::size_t rows_in_mcu,
                                       int window)
    : rows_in_mcu_(rows_in_mcu),
      blocks_a_row_(blocks_a_row),
      blocks_(blocks_a_row * rows_in_mcu * static_cast<std::size_t>(window)) {
  for (std::size_t at = 0; at < blocks_.size(); at += blocks_a_row)
    rows_.push_back(&blocks_[at].values);
}

void JpegCoefficients::Component::clear(int mcu_row) {
  const std::size_t row = static_cast<std::size_t>(mcu_row) * rows_in_mcu_ % rows_.size();
  const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(row * blocks_a_row_);
  std::fill_n(begin, rows_in_mcu_ * blocks_a_row_, Block{});
}

JpegCoefficients::JpegCoefficients(const jpeg_decompress_struct& jpeg, int window) {
  const auto mcus = static_cast<std::size_t>(mcu_grid(jpeg).count.width);
  const bool alone = jpeg.num_components == 1;
  for (int i = 0; i < jpeg.num_components; ++i) {
    const jpeg_component_info& info = jpeg.comp_info[i];
    components_.emplace_back(mcus * static_cast<unsigned>(alone ? 1 : info.h_samp_factor),
                             static_cast<std::size_t>(alone ? 1 : info.v_samp_factor), window);
  }
}

void JpegCoefficients::clear(int mcu_row) {
  for (Component& component : components_)
    component.clear(mcu_row);
}

}  // namespace gpufilter
