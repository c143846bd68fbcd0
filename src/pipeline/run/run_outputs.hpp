// The output files of a picture that is being filtered.
#pragma once

#include <deque>

#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/picture_output.hpp"
#include "pipeline/run/stored_outputs.hpp"

namespace gpufilter {

class RunOutputs {
 public:
  // `outputs` are those of `options`, with their places in `chain`, which is the one for this
  // picture. All outlive this object, and `report` gets what becomes known. Decides
  // what is not decoded, and reads that. Throws PictureError.
  RunOutputs(RunReport& report, PictureInput& input, const LoweredChain& chain,
             const std::vector<ChainOutput>& outputs, const Codec& last_format,
             const RunOptions& options);

  [[nodiscard]] const StoredOutputs& stored() const { return stored_; }
  [[nodiscard]] bool copy_last() { return stored_.copy_last(); }
  [[nodiscard]] std::size_t count() const { return files_.size(); }

  // Begins the next file, in the order of their places.
  PictureOutput& open(OutputReport& report);
  // Completes all of them, and then moves them into place; the time counts as `kind`.
  void finish(Timeline& timeline, const Span& kind);

 private:
  void note_orientation() const;
  void note_unread() const;

  RunReport& report_;
  PictureInput& input_;
  const LoweredChain& chain_;
  const std::vector<ChainOutput>& places_;
  const RunOptions& options_;
  StoredOutputs stored_;
  std::deque<PictureOutput> files_;
};

}  // namespace gpufilter
