#include "support/jpeg_coefficients.hpp"

#include <algorithm>
#include <iterator>

namespace gpufilter::test {

std::vector<StoredComponent> coefficients_of(const Bytes& data) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, data.data(), data.size());
  jpeg_read_header(&jpeg, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&jpeg);
  std::vector<StoredComponent> components;
  for (int c = 0; c < jpeg.num_components; ++c) {
    const jpeg_component_info& info = jpeg.comp_info[c];
    StoredComponent& component = components.emplace_back();
    component.horizontal = jpeg.num_components == 1 ? 1 : info.h_samp_factor;
    component.vertical = jpeg.num_components == 1 ? 1 : info.v_samp_factor;
    component.width = static_cast<int>(info.width_in_blocks);
    component.height = static_cast<int>(info.height_in_blocks);
    std::copy(std::begin(info.quant_table->quantval), std::end(info.quant_table->quantval),
              component.divisors.begin());
    for (JDIMENSION y = 0; y < info.height_in_blocks; ++y) {
      const JBLOCKROW row = jpeg.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&jpeg),
                                                         arrays[c], y, 1, FALSE)[0];
      for (JDIMENSION x = 0; x < info.width_in_blocks; ++x)
        std::copy(std::begin(row[x]), std::end(row[x]), component.blocks.emplace_back().begin());
    }
  }
  jpeg_destroy_decompress(&jpeg);
  return components;
}

}  // namespace gpufilter::test
