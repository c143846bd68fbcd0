#include "stages/gaussian_tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/row_pass.hpp"

namespace gpufilter {
namespace {

constexpr int matrix_side = 16;  // of the blocks of results of one channel
constexpr int team_size = 32;    // work-items that multiply matrices together

// The geometry of kernels/gaussian_tiles.cl, with its names.
struct TileShape {
  int channels = 0;
  int radius = 0;
  int blocks = 0;  // side by side
  int teams = 0;

  [[nodiscard]] int margin() const { return divided_up(radius, 4) * 4; }
  [[nodiscard]] int chunks() const { return divided_up(16 + margin() + radius, 16); }
  [[nodiscard]] int halves() const { return divided_up(8 + margin() + radius, 16); }
  [[nodiscard]] int strip() const { return blocks * matrix_side; }
  [[nodiscard]] int local_bytes() const {
    const int piece_margin = divided_up(margin(), 16);
    const int pieces = divided_up(strip() + radius, 16) + piece_margin;
    const int read = divided_up(16 * piece_margin - margin() + strip() - 8, 16) + halves();
    const int samples = channels * matrix_side * 16 * (std::max(pieces, read) | 1);
    const int sums = 2 * channels * strip() * 16 * (chunks() | 1);
    const int results = matrix_side * (strip() * channels + 16);
    return samples + sums + results;
  }
};

// Wide strips read few columns twice. Nothing if not even the narrowest fits.
std::optional<TileShape> tile_shape(int channels, int radius, const DeviceInfo& device) {
  constexpr int maximum_teams = 8;
  for (int blocks = channels == 1 ? 8 : 4; blocks > 0; blocks /= 2) {
    const int teams = std::min(blocks, maximum_teams / channels) * channels;
    const TileShape shape{channels, radius, blocks, teams};
    if (static_cast<std::uint64_t>(shape.local_bytes()) <= device.local_memory) return shape;
  }
  return std::nullopt;
}

// Appends the part of the matrix of weights, from column `first` on, that a work-item of a team
// holds, for products with 16 or 32 numbers: PTX, "Matrix Fragments for mma.m16n8k32".
void append_weights(std::vector<std::uint8_t>& bytes, const GaussianWindow& window, int margin,
                    int item, int first, int numbers) {
  for (int i = 0; i < numbers / 2; ++i) {
    const int row = item / 4;
    const int column = first + item % 4 * 4 + i % 4 + i / 8 * 16;
    const int distance = std::abs(column - row - margin);
    const int weight = distance <= window.radius() ? window.weights.at(distance) : 0;
    const bool high = i / 4 % 2 != 0;
    bytes.push_back(static_cast<std::uint8_t>(high ? weight >> 8 : weight));
  }
}

std::vector<std::uint8_t> weight_matrix(const GaussianWindow& window, const TileShape& shape) {
  std::vector<std::uint8_t> bytes;
  const int end = 16 * shape.halves();
  for (int first = 0; first < end; first += 32) {
    for (int item = 0; item < team_size; ++item)
      append_weights(bytes, window, shape.margin(), item, first, std::min(32, end - first));
  }
  return bytes;
}

// Rows of a work-group: it computes the sums of a window's height twice, so several times as many
// pay; but every compute unit should have work.
int segment_rows(const TileShape& shape, const PictureShape& picture, const DeviceInfo& device) {
  constexpr int unit = 3 * matrix_side;  // a multiple of all group heights
  const int strips = divided_up(picture.size.width, shape.strip());
  const int segments = divided_up(std::max(static_cast<int>(device.compute_units), 1), strips);
  const int suiting = unit * std::max(shape.chunks(), 3);
  return std::min(suiting, divided_up(divided_up(picture.size.height, segments), unit) * unit);
}

class GaussianTiles final : public Stage {
 public:
  GaussianTiles(std::string stage, GaussianWindow window, const TileShape& shape, std::string label)
      : stage_(std::move(stage)),
        window_(std::move(window)),
        shape_(shape),
        label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return stage_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override { return name() + ", " + label_; }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(window_.border, target, window_.radius(), source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {Rate("gaussian tiles", 0, 0.02e-12),
            static_cast<double>(input.channels) * shape_.halves()};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel{.file = "gaussian_tiles.cl", .function = "gaussian_tiles"};
    kernel.macros =
        formatted("-D BORDER={} -D RADIUS={} -D MARGIN={} -D BLOCKS={}",
                  static_cast<int>(window_.border), shape_.radius, shape_.margin(), shape_.blocks);
    kernel.tables = {weight_matrix(window_, shape_)};
    const int group_width = std::min(shape_.strip(), team_size);
    kernel.group_width = group_width;
    kernel.group_height = shape_.teams * team_size / group_width;
    kernel.pixels = shape_.strip() / group_width;
    kernel.lines = segment_rows(shape_, input, session.device()) / kernel.group_height;
    kernel.variant = formatted("matrix products, {}x{} tiles", shape_.strip(), matrix_side);
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  std::string stage_;
  GaussianWindow window_;
  TileShape shape_;
  std::string label_;
};

}  // namespace

std::shared_ptr<const Stage> gaussian_tiles(const std::string& stage, const GaussianWindow& window,
                                            const PixelFormat& picture, const std::string& label,
                                            const DeviceInfo& device) {
  // mma.m16n8k32 for bytes came with this one, 8.0.
  constexpr unsigned capability = 80;
  if (device.compute_capability < capability) return nullptr;
  if (picture.depth != 8 || window.weighted || window.mask) return nullptr;
  const auto shape = tile_shape(picture.channels, window.radius(), device);
  if (!shape) return nullptr;
  return std::make_shared<GaussianTiles>(stage, window, *shape, label);
}

}  // namespace gpufilter
