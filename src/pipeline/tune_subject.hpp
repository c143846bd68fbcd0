// What `gpufilter tune` tries candidates with: a stage, statistics, matrix products.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute/matrix_product.hpp"
#include "compute/picture_statistics.hpp"
#include "device/session.hpp"
#include "image/image.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// Work on one device by kernels that ask the session's tuning. Whatever that chooses, the result
// has to be the processor's. All methods throw DeviceError, and UsageError where what tuning chose
// does not fit.
class TuneSubject {
 public:
  virtual ~TuneSubject() = default;

  // Builds the kernels, which asks the tuning, and drops them.
  virtual void build() const = 0;

  // Runs small cases. The first difference from the processor's result, if any.
  [[nodiscard]] virtual std::optional<std::string> check() = 0;

  // Builds the kernels for the work that is timed.
  virtual void begin() = 0;
  // Does that work once; milliseconds by OpenCL's profiling.
  [[nodiscard]] virtual double run() = 0;
  // How its result differs from the processor's, as far as that was computed.
  [[nodiscard]] virtual std::optional<std::string> check_timed() = 0;
};

// A stage on pictures of this format. `session` outlives the subject, here and below.
[[nodiscard]] std::unique_ptr<TuneSubject> make_stage_subject(Session& session,
                                                              std::shared_ptr<const Stage> stage,
                                                              const PixelFormat& format);

// Statistics of pictures of this format.
[[nodiscard]] std::unique_ptr<TuneSubject> make_statistics_subject(Session& session,
                                                                   Quantity quantity,
                                                                   const PixelFormat& format);

// Products of matrices of this shape.
[[nodiscard]] std::unique_ptr<TuneSubject> make_product_subject(Session& session,
                                                                const MatrixShape& shape);

// Random pixels, opaque, for measurements; as large as suits the device.
[[nodiscard]] Image timing_picture(ImageSize size, const PixelFormat& format);
[[nodiscard]] ImageSize timing_size(const DeviceInfo& device);

// The stage, or what it becomes once it knows a random picture.
[[nodiscard]] std::shared_ptr<const Stage> resolved_stage(std::shared_ptr<const Stage> stage,
                                                          const PixelFormat& format);

}  // namespace gpufilter
