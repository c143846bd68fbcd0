// The coefficients of a JPEG, which crops and turns move without decoding them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/stored_picture.hpp"

namespace gpufilter {

class JpegStoredPicture final : public StoredPicture {
 public:
  // Of the file whose header `decoder` has read, before anything else is called. Both outlive it.
  JpegStoredPicture(JpegRowDecoder& decoder, const PictureHeader& header)
      : decoder_(decoder), header_(header) {}

  // Bytes that the coefficients may take; and of a damaged file only the rows are kept, for which
  // it has to be read again.
  void limit(const ReadLimits& limits, bool is_repeatable) {
    max_memory_ = limits.max_memory;
    keeps_damaged_ = limits.damaged == Damaged::keep;
    is_repeatable_ = is_repeatable;
  }

  [[nodiscard]] std::string objection(const Placement& placement,
                                      const WriteOptions& options) const override;
  [[nodiscard]] std::string load() override;
  [[nodiscard]] bool is_loaded() const { return !rows_.empty(); }
  [[nodiscard]] std::unique_ptr<RowWriter> create(ByteSink& sink, const PictureHeader& header,
                                                  const WriteOptions& options,
                                                  const Placement& placement) override;

 private:
  [[nodiscard]] std::string objection_to_file() const;
  [[nodiscard]] std::string load_blocks();

  JpegRowDecoder& decoder_;
  const PictureHeader& header_;
  std::uint64_t max_memory_ = 0;
  bool keeps_damaged_ = false;
  bool is_repeatable_ = true;
  std::vector<std::vector<JBLOCKROW>> rows_;  // of the blocks of each component
};

}  // namespace gpufilter
