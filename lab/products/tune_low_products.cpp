#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "lab/products/low_measurements.hpp"
#include "lab/products/sampled_errors.hpp"

namespace gpufilter::lab {
namespace {

LowProduct filled(NumberType type, const LowShape& shape) {
  LowProduct product(type, shape);
  fill(product);
  return product;
}

// Odd, larger than a block, and with groups and rows that are not in use.
LowProduct odd_product(NumberType type, Grouping grouping) {
  switch (grouping) {
    case Grouping::contiguous: {
      LowProduct product = filled(type, {384, 129, 257, grouping, 3});
      product.groups = {2, -1, 0};
      return product;
    }
    case Grouping::masked: {
      LowProduct product = filled(type, {131, 129, 257, grouping, 3});
      product.groups = {131, 0, 65};
      return product;
    }
    case Grouping::dense:
      break;
  }
  return filled(type, {131, 259, 257});
}

// A product on the device, and its required result.
class LowProductCase {
 public:
  LowProductCase(Session& session, Queue& queue, LowProduct product)
      : product_(std::move(product)), oracle_(product_), on_device_(session, queue, product_) {}
  LowProductCase(const LowProductCase&) = delete;  // the others refer to product_
  LowProductCase& operator=(const LowProductCase&) = delete;

  void begin(Session& session, Queue& queue, const DeviceMethod& method) {
    method_ = method;
    kernel_.emplace(on_device_.make_kernel(session, method));
    on_device_.poison(queue);
  }

  // Milliseconds.
  double run(Queue& queue) const {
    const Event event = on_device_.enqueue(queue, *kernel_, method_);
    queue.finish();
    return static_cast<double>(event.times().duration) * 1e-6;
  }

  std::optional<std::string> difference(Queue& queue) {
    return oracle_.difference(method_, on_device_.result(queue));
  }

 private:
  LowProduct product_;
  LowProductOracle oracle_;
  DeviceLowProduct on_device_;
  DeviceMethod method_;
  std::optional<Kernel> kernel_;
};

class LowProductSubject final : public TuneSubject {
 public:
  LowProductSubject(Session& session, NumberType type, const LowShape& shape)
      : session_(session), type_(type), shape_(shape), queue_(session.make_queue()) {}

  void build() const override { static_cast<void>(method()); }

  [[nodiscard]] std::optional<std::string> check() override {
    if (!odd_) odd_.emplace(session_, queue_, odd_product(type_, shape_.grouping));
    odd_->begin(session_, queue_, method());
    static_cast<void>(odd_->run(queue_));
    return odd_->difference(queue_);
  }

  void begin() override {
    if (!large_) large_.emplace(session_, queue_, filled(type_, shape_));
    large_->begin(session_, queue_, method());
  }

  [[nodiscard]] double run() override { return large_->run(queue_); }

  [[nodiscard]] std::optional<std::string> check_timed() override {
    return large_->difference(queue_);
  }

 private:
  [[nodiscard]] DeviceMethod method() const {
    return chosen_method(session_, type_, shape_).method;
  }

  Session& session_;
  NumberType type_;
  LowShape shape_;
  Queue queue_;
  std::optional<LowProductCase> odd_, large_;
};

}  // namespace

std::vector<LowShape> shapes_to_tune(const DeviceInfo& device) {
  const bool is_gpu = device.kind == DeviceKind::gpu;
  const std::size_t few = is_gpu ? 1024 : 128;
  std::size_t many = is_gpu ? 4096 : 256;
  while (divided_up(many, 128) * divided_up(many, 128) < device.compute_units)
    many *= 2;
  return {{many, many, many},
          {few, few, few},
          {many, many, many, Grouping::contiguous, 4},
          {many / 4, many, many, Grouping::masked, 4}};
}

std::unique_ptr<TuneSubject> make_low_product_subject(Session& session, NumberType type,
                                                      const LowShape& shape) {
  return std::make_unique<LowProductSubject>(session, type, shape);
}

}  // namespace gpufilter::lab
