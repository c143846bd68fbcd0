// Pictures in memory through a chain of stages, without files.
#pragma once

#include "codec/codec.hpp"
#include "device/session.hpp"
#include "pipeline/plan/plan.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// Yields the rows of an image.
class ImageReader final : public RowReader {
 public:
  explicit ImageReader(const Image& image);  // has to outlive the reader
  void read(const MutableRows& rows) override;
  Metadata finish() override { return {}; }

 private:
  const Image& image_;
  int next_ = 0;
};

// Stages, or the only one, as the command line asks for them: "--blur tiled --tile 8 --rotate 90".
[[nodiscard]] StageChain stages_of(const std::string& words);
[[nodiscard]] std::shared_ptr<const Stage> stage_of(const std::string& words);

// A session on every OpenCL device of this machine, started once per process, without a program
// cache.
[[nodiscard]] const std::vector<std::unique_ptr<Session>>& all_sessions();

// These, and one more for each CPU among them that claims to be a GPU, so that it runs the kernels
// chosen for GPUs.
[[nodiscard]] const std::vector<Session*>& kernel_sessions();

// The sessions of kernel_sessions(), but of a CPU only one of its two: which one depends on the
// format. Compiling for both takes most of a test's time.
[[nodiscard]] std::vector<Session*> kernel_sessions(const PixelFormat& format);

// The chain as it is for a picture of this format, whose samples mean what `metadata` says; only
// for stages for which the size makes no difference.
[[nodiscard]] LoweredChain lowered(const StageChain& chain, const PixelFormat& format,
                                   const Metadata& metadata = {});
// The shape of a stage's result.
[[nodiscard]] PictureShape result_of(const std::shared_ptr<const Stage>& stage,
                                     const PictureShape& input);
// Whether the only step of a stage changes nothing.
[[nodiscard]] bool changes_nothing(const std::shared_ptr<const Stage>& stage,
                                   const PictureShape& input);

// Filters band by band with the pipeline's own feed and executor. On a device each band's buffers
// first hold the results of another picture, so that pixels that a kernel does not write show.
[[nodiscard]] Image filter_on_device(Session& session, const Image& image, const StageChain& chain,
                                     PlanLimits limits, bool fuse = true);
[[nodiscard]] Image filter_on_device(Session& session, const Image& image,
                                     const LoweredChain& chain, PlanLimits limits,
                                     bool fuse = true);
[[nodiscard]] Image filter_on_host(const Image& image, const StageChain& chain,
                                   const PlanLimits& limits);
[[nodiscard]] Image filter_on_host(const Image& image, const LoweredChain& chain,
                                   const PlanLimits& limits);
// Filters on the processor by a stage that demands statistics of the picture.
[[nodiscard]] Image by_statistics(const Image& image, const std::shared_ptr<const Stage>& stage);
// Filters on the processor, one stage after the other, each over the whole picture.
[[nodiscard]] Image stage_by_stage(const Image& image, const StageChain& chain);

}  // namespace gpufilter::test
