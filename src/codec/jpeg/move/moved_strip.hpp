// Encodes rows of MCUs of a JPEG whose coefficients are moved.
#pragma once

#include <array>
#include <vector>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/move/moved_blocks.hpp"
#include "codec/jpeg/move/moved_writer.hpp"
#include "codec/jpeg/read/coefficients.hpp"

namespace gpufilter {

// How the file is written.
struct MovedJpegForm {
  bool progressive = false;
  int mcu_rows_a_strip = 0;  // between restart markers; 0: there are none
};

// Replaces libjpeg's functions for virtual arrays: rows of blocks are made when it asks for them.
// All functions call libjpeg, so only within JpegErrors::run().
class MovedCompressor : public Compressor {
 public:
  using Components = std::vector<MovedComponent>;

  // `components` outlive the compressor.
  MovedCompressor(JpegErrors& errors, const Components& components);

  // Call once.
  void create(const JpegMove& move, const MovedJpegForm& form, jpeg_destination_mgr& destination);

  // Begins a file of `height` pixel rows, from a row of MCUs of the result on. The caller adds
  // metadata, and jpeg_finish_compress() encodes.
  void begin(int mcu_row, int height);

 private:
  // The rows of blocks of a component that libjpeg works on.
  struct Window {
    const MovedComponent* component = nullptr;
    int first_row = 0;  // of the strip
    std::vector<JpegCoefficients::Block> blocks = {};
    std::vector<JBLOCKROW> rows = {};
  };

  static JBLOCKARRAY access(j_common_ptr jpeg, jvirt_barray_ptr array, JDIMENSION row,
                            JDIMENSION rows, boolean writable);

  std::vector<Window> windows_;
  std::array<jvirt_barray_ptr, MAX_COMPONENTS> arrays_{};
};

}  // namespace gpufilter
