#include "codec/jpeg/move/moved_strip.hpp"

#include <utility>

namespace gpufilter {
namespace {

void transpose_table(JQUANT_TBL& table) {
  for (int i = 0; i < DCTSIZE; ++i) {
    for (int j = 0; j < i; ++j)
      std::swap(table.quantval[i * DCTSIZE + j], table.quantval[j * DCTSIZE + i]);
  }
}

}  // namespace

MovedCompressor::MovedCompressor(JpegErrors& errors, const Components& components)
    : Compressor(errors) {
  for (const MovedComponent& component : components) {
    Window& window = windows_.emplace_back();
    window.component = &component;
    const auto rows = static_cast<std::size_t>(component.vertical_sampling());
    window.blocks.resize(rows * component.blocks_a_row());
    for (std::size_t i = 0; i < rows; ++i)
      window.rows.push_back(&window.blocks[i * component.blocks_a_row()].values);
  }
  for (std::size_t i = 0; i < windows_.size(); ++i)
    arrays_.at(i) = reinterpret_cast<jvirt_barray_ptr>(&windows_[i]);
}

void MovedCompressor::create(const JpegMove& move, const MovedJpegForm& form,
                             jpeg_destination_mgr& destination) {
  jpeg_create_compress(this);
  mem->access_virt_barray = access;
  dest = &destination;
  // libjpeg only reads it, although its parameter is not const.
  auto* source = const_cast<Decompressor*>(&move.source);
  jpeg_copy_critical_parameters(source, this);
  image_width = static_cast<JDIMENSION>(move.placement.result_size().width);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    comp_info[i].h_samp_factor = windows_[i].component->horizontal_sampling();
    comp_info[i].v_samp_factor = windows_[i].component->vertical_sampling();
  }
  for (JQUANT_TBL* table : quant_tbl_ptrs) {
    if (move.placement.turn.swaps && table != nullptr) transpose_table(*table);
  }
  // Ink is stored inverted only in files with this marker.
  if (num_components == 4 && source->saw_Adobe_marker == FALSE) write_Adobe_marker = FALSE;
  if (form.progressive) jpeg_simple_progression(this);
  restart_in_rows = form.mcu_rows_a_strip;
}

void MovedCompressor::begin(int mcu_row, int height) {
  for (Window& window : windows_)
    window.first_row = mcu_row * window.component->vertical_sampling();
  image_height = static_cast<JDIMENSION>(height);
  jpeg_write_coefficients(this, arrays_.data());
}

// Below the last row, libjpeg makes up blocks.
JBLOCKARRAY MovedCompressor::access(j_common_ptr /*jpeg*/, jvirt_barray_ptr array, JDIMENSION row,
                                    JDIMENSION rows, boolean /*writable*/) {
  Window& window = *reinterpret_cast<Window*>(array);
  for (JDIMENSION i = 0; i < rows; ++i) {
    const int wanted = window.first_row + static_cast<int>(row + i);
    if (wanted < window.component->row_count()) window.component->fill(wanted, window.rows[i]);
  }
  return window.rows.data();
}

}  // namespace gpufilter
