// The work that `gpufilter tune` times candidates with: a stage, statistics, matrix products.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute/matrix_product.hpp"
#include "compute/picture_statistics.hpp"
#include "device/session.hpp"
#include "image/image.hpp"
#include "lab/products/low_product.hpp"
#include "stage/stage.hpp"

namespace gpufilter::lab {

// Work on one device with kernels that the session's tuning chooses. Every choice has to give the
// processor's result. All methods throw DeviceError, and UsageError if the choice does not fit the
// device.
class TuneSubject {
 public:
  virtual ~TuneSubject() = default;

  // Builds the kernels, which queries the tuning, and discards them.
  virtual void build() const = 0;

  // Runs small cases. Returns the first difference from the processor's result, if any.
  [[nodiscard]] virtual std::optional<std::string> check() = 0;

  // Builds the kernels for the timed work.
  virtual void begin() = 0;
  // Does the timed work once; returns milliseconds by OpenCL's profiling.
  [[nodiscard]] virtual double run() = 0;
  // How its result differs from those parts of the processor's that were computed, if it does.
  [[nodiscard]] virtual std::optional<std::string> check_timed() = 0;
};

// A stage on pictures of this format. `session` has to outlive the subject, here and below.
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

// Products of low-precision numbers of this shape.
[[nodiscard]] std::unique_ptr<TuneSubject> make_low_product_subject(Session& session,
                                                                    NumberType type,
                                                                    const LowShape& shape);

// The size of pictures for measurements.
[[nodiscard]] ImageSize timing_size(const DeviceInfo& device);

// The stage, or the stage that it resolves to for a random picture.
[[nodiscard]] std::shared_ptr<const Stage> resolved_stage(std::shared_ptr<const Stage> stage,
                                                          const PixelFormat& format);

}  // namespace gpufilter::lab
