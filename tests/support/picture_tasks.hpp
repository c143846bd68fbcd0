// Picture tasks for tests of estimates.
#pragma once

#include "codec/formats.hpp"
#include "pipeline/choose/machine_rates.hpp"
#include "stages/window/blur.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// An RGB picture of 8 bits that is decoded as JPEG by one thread and encoded as PNG by all.
inline PictureTask task_of(int width, int height, const StageChain& chain = {make_blur({})}) {
  PictureTask task;
  task.shape = {{width, height}, {3, 8}};
  task.chain = lower_chain(chain, {.shape = task.shape});
  task.decoding = jpeg_codec().decoding;
  task.encoding = png_codec().encoding;
  task.parallel_encoding = true;
  task.file_bytes = 1000;
  return task;
}

}  // namespace gpufilter::test
