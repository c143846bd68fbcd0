#include "stages/gaussian_strips.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/row_pass.hpp"

namespace gpufilter {
namespace {

constexpr int group_width = 128;  // strips side by side, each of a work-item
constexpr int max_rows = 100;     // of a strip

// The geometry of kernels/gaussian_strips.cl.
struct StripShape {
  int channels = 0;
  int radius = 0;

  [[nodiscard]] int pixels() const { return channels > 2 ? 4 : 8; }
  [[nodiscard]] int samples() const { return pixels() * channels; }
  [[nodiscard]] int halo_words() const { return divided_up(radius * channels, 4); }
  // Of local memory, for each row of the windows at an edge.
  [[nodiscard]] int row_bytes() const {
    const int edge_strips = 2 * divided_up(4 * halo_words(), samples()) + 1;
    return edge_strips * (2 * halo_words() * 4 + samples());
  }
  // Rows of work-items for which a compute unit has registers: sums along columns, and about 40.
  [[nodiscard]] int rows_a_unit() const {
    constexpr int registers = 65536 / group_width;
    return std::max(registers / (40 + samples() * radius * 12 / 5), 1);
  }
  // Of work-items. High work-groups have fewer edges.
  [[nodiscard]] int group_height() const { return rows_a_unit() % 2 == 0 ? 2 : 1; }
};

// Rows of a strip. All work-groups have the same work, so they should begin together: as few rows
// as let them fill the device once. In high pictures, more than once: long strips read few rows
// twice, but need local memory. Multiples, so that few programs suffice for pictures of all sizes.
int strip_rows(const StripShape& shape, const PictureShape& picture, const DeviceInfo& device) {
  constexpr int unit = 4;
  constexpr int min_rows = 16;
  const int across = divided_up(divided_up(picture.size.width, shape.pixels()), group_width);
  const int units = std::max(static_cast<int>(device.compute_units), 1);
  const int at_once = std::max(units * shape.rows_a_unit() / across, 1);
  const int height = picture.size.height;
  const int rounds = divided_up(height, at_once * max_rows);
  return std::max(divided_up(divided_up(height, at_once * rounds), unit) * unit, min_rows);
}

class GaussianStrips final : public Stage {
 public:
  GaussianStrips(std::string stage, GaussianWindow window, std::string label)
      : stage_(std::move(stage)), window_(std::move(window)), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return stage_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override { return name() + ", " + label_; }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(window_.border, target, window_.radius(), source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {Rate("gaussian strips", 0, 0.1e-12),
            static_cast<double>(input.channels) * (window_.radius() + 2)};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel{.file = "gaussian_strips.cl", .function = "gaussian_strips"};
    kernel.macros =
        formatted("-D BORDER={} -D RADIUS={}", static_cast<int>(window_.border), window_.radius());
    kernel.tables = {to_bytes(std::span<const std::int32_t>(window_.weights))};
    const StripShape shape{input.format.channels, window_.radius()};
    kernel.pixels = static_cast<std::size_t>(shape.pixels());
    kernel.lines = static_cast<std::size_t>(strip_rows(shape, input, session.device()));
    kernel.group_width = group_width;
    kernel.group_height = static_cast<std::size_t>(shape.group_height());
    kernel.variant = label_;
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  std::string stage_;
  GaussianWindow window_;
  std::string label_;
};

}  // namespace

std::shared_ptr<const Stage> gaussian_strips(const std::string& stage, const GaussianWindow& window,
                                             const PixelFormat& picture, const std::string& label,
                                             const DeviceInfo& device) {
  constexpr unsigned capability = 70;  // integers are multiplied as fast as floats from 7.0 on
  constexpr int max_radius = 3;        // with more, gaussian_tiles() is faster
  if (device.compute_capability < capability) return nullptr;
  if (picture.depth != 8 || window.weighted || window.mask) return nullptr;
  if (window.radius() > max_radius) return nullptr;
  const StripShape shape{picture.channels, window.radius()};
  const int rows = max_rows * shape.group_height() + 2 * window.radius();
  if (static_cast<std::uint64_t>(rows * shape.row_bytes()) > device.local_memory) return nullptr;
  return std::make_shared<GaussianStrips>(stage, window, label);
}

}  // namespace gpufilter
