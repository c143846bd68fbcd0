#include "stages/gaussian/gaussian_matrix.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stage/byte_products.hpp"
#include "stage/device/row_pass.hpp"
#include "stages/gaussian/whole_gaussian.hpp"

namespace gpufilter {
namespace {

constexpr int matrix_side = 16;  // rows of a matrix of weights; rows of the picture in a chunk
constexpr int team_size = 32;    // work-items that multiply matrices together

// A matrix of weights: that of number k for result m is the one at the distance (k - m - middle) /
// step. It has the low bytes of 8 results' weights, then their high bytes.
struct WeightMatrix {
  const std::vector<std::int32_t>& weights;  // at the distances 0, 1, ...
  int middle = 0;
  int step = 1;
  int scale = 1;

  // Appends, of the columns from `first` on, what each work-item of a team holds for products with
  // 16 or 32 numbers: PTX, "Matrix Fragments for mma.m16n8k32".
  void append_columns(std::vector<std::uint8_t>& bytes, int first, int numbers) const {
    for (int item = 0; item < team_size; ++item) {
      for (int i = 0; i < numbers / 2; ++i) {
        const int column = first + item % 4 * 4 + i % 4 + i / 8 * 16;
        const bool high = i / 4 % 2 != 0;
        const int weight = scale * weight_at(column - item / 4 - middle);
        bytes.push_back(static_cast<std::uint8_t>(high ? weight >> 8 : weight));
      }
    }
  }

 private:
  [[nodiscard]] int weight_at(int place) const {
    const auto distance = static_cast<std::size_t>(std::abs(place / step));
    return place % step == 0 && distance < weights.size() ? weights[distance] : 0;
  }
};

// The geometry of kernels/gaussian/gaussian_strips.cl, with its names.
struct StripShape {
  int channels = 0;
  int radius = 0;

  [[nodiscard]] int pixels() const { return channels == 1 ? 2 : 1; }
  [[nodiscard]] int strip() const { return team_size * pixels() * channels; }
  [[nodiscard]] int reach() const { return radius * channels; }
  [[nodiscard]] int margin() const { return divided_up(reach(), 4); }
  [[nodiscard]] int steps() const { return divided_up(4 * margin() + 8 + reach(), 32); }
  [[nodiscard]] int upper_chunks() const { return divided_up(8 + 2 * radius, matrix_side); }
  [[nodiscard]] int chunks() const { return divided_up(16 + 2 * radius, matrix_side); }
  // Rows of results that so many chunks of the source complete.
  [[nodiscard]] int lines(int source_chunks) const {
    return matrix_side * (source_chunks - chunks() + 1) + 8 * (chunks() - upper_chunks());
  }
  [[nodiscard]] int local_bytes(bool sharpens) const {
    const int halo = divided_up(reach(), 16);
    const int read = 4 * halo - margin() + strip() / 4 - 2 + 8 * steps();
    const int line_words = (std::max(strip() / 4 + 8 * halo, read) + 3) / 8 * 8 + 4;
    const int kept_sums = (chunks() - 1) * strip() / 8 * team_size * 8;
    return matrix_side * 4 * line_words + kept_sums +
           matrix_side * (strip() * (sharpens ? 2 : 1) + 16);
  }
};

// With more steps a compute unit has registers for few teams, and tiles are faster.
bool suits_strips(const StripShape& shape, bool sharpens, const DeviceInfo& device) {
  constexpr int max_steps = 4;
  return shape.radius > 0 && shape.steps() <= max_steps &&
         static_cast<std::uint64_t>(shape.local_bytes(sharpens)) <= device.local_memory;
}

// Long strips read few rows twice, but every compute unit should have teams. Few different numbers,
// so that few programs suffice for pictures of all sizes.
int strip_lines(const StripShape& shape, const PictureShape& picture, const DeviceInfo& device) {
  constexpr int teams_of_unit = 16;
  const int strips = divided_up(picture.size.width * shape.channels, shape.strip());
  const int teams = teams_of_unit * std::max(static_cast<int>(device.compute_units), 1);
  int chunks = 8 * (shape.chunks() - 1);
  while (chunks > 2 * shape.chunks() &&
         strips * divided_up(picture.size.height, shape.lines(chunks)) < teams)
    chunks /= 2;
  return shape.lines(chunks);
}

std::vector<std::uint8_t> strip_table(const GaussianWindow& window, const StripShape& shape) {
  constexpr int scale = 2;
  std::vector<std::uint8_t> bytes;
  const WeightMatrix along_rows{window.weights, 4 * shape.margin(), shape.channels, scale};
  for (int step = 0; step < shape.steps(); ++step)
    along_rows.append_columns(bytes, 32 * step, 32);
  const WeightMatrix upper{window.weights, shape.radius, 1, scale};
  for (int chunk = 0; chunk < shape.upper_chunks(); ++chunk)
    upper.append_columns(bytes, matrix_side * chunk, matrix_side);
  const WeightMatrix lower{window.weights, 8 + shape.radius, 1, scale};
  for (int chunk = 0; chunk < shape.chunks(); ++chunk)
    lower.append_columns(bytes, matrix_side * chunk, matrix_side);
  // Half of what sums along rows are divided by, and half of what those along columns are: 2^15 if
  // they keep seven more bits for a mask, otherwise 2^22. The columns' weights add up to 2^15, so
  // 2^6 for each row is 2^21.
  constexpr std::uint32_t row_half = scale * (1U << 7U);
  const bool sharpens = window.mask.has_value();
  const std::uint32_t row_start = row_half + (sharpens ? 0 : scale * (1U << 8U) * (1U << 6U));
  const std::uint32_t column_start = sharpens ? scale * scale * (1U << 14U) : 0;
  const std::array starts{row_start, row_start, 0U, 0U, column_start, column_start, 0U, 0U};
  const auto start_bytes = to_bytes(std::span<const std::uint32_t>(starts));
  bytes.insert(bytes.end(), start_bytes.begin(), start_bytes.end());
  return bytes;
}

RowKernel strip_kernel(const GaussianWindow& window, const PictureShape& picture,
                       const DeviceInfo& device) {
  const StripShape shape{picture.format.channels, window.radius()};
  RowKernel kernel{.file = "gaussian_strips.cl", .function = "gaussian_strips"};
  kernel.macros = formatted("-D RADIUS={}", shape.radius);
  kernel.tables = {strip_table(window, shape)};
  kernel.group_width = team_size;
  kernel.pixels = static_cast<std::size_t>(shape.pixels());
  kernel.lines = static_cast<std::size_t>(strip_lines(shape, picture, device));
  kernel.variant = formatted("matrix products, strips of {} columns", team_size * shape.pixels());
  if (window.mask) add_mask(kernel, *window.mask, picture.format);
  return kernel;
}

// The geometry of kernels/gaussian/gaussian_tiles.cl, with its names.
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

// Rows of a work-group: it computes the sums of a window's height twice, so several times as many
// pay; but every compute unit should have work.
int segment_rows(const TileShape& shape, const PictureShape& picture, const DeviceInfo& device) {
  constexpr int unit = 3 * matrix_side;  // a multiple of all group heights
  const int strips = divided_up(picture.size.width, shape.strip());
  const int segments = divided_up(std::max(static_cast<int>(device.compute_units), 1), strips);
  const int suiting = unit * std::max(shape.chunks(), 3);
  return std::min(suiting, divided_up(divided_up(picture.size.height, segments), unit) * unit);
}

RowKernel tile_kernel(const GaussianWindow& window, const TileShape& shape,
                      const PictureShape& picture, const DeviceInfo& device) {
  RowKernel kernel{.file = "gaussian_tiles.cl", .function = "gaussian_tiles"};
  kernel.macros = formatted("-D RADIUS={} -D MARGIN={} -D BLOCKS={}", shape.radius, shape.margin(),
                            shape.blocks);
  const WeightMatrix matrix{window.weights, shape.margin()};
  kernel.tables.emplace_back();
  const int end = matrix_side * shape.halves();
  for (int first = 0; first < end; first += 32)
    matrix.append_columns(kernel.tables.back(), first, std::min(32, end - first));
  const int group_width = std::min(shape.strip(), team_size);
  kernel.group_width = group_width;
  kernel.group_height = shape.teams * team_size / group_width;
  kernel.pixels = shape.strip() / group_width;
  kernel.lines = segment_rows(shape, picture, device) / kernel.group_height;
  kernel.variant = formatted("matrix products, {}x{} tiles", shape.strip(), matrix_side);
  return kernel;
}

class GaussianMatrix final : public WholeGaussian {
 public:
  // Strips, unless there is a shape of tiles.
  GaussianMatrix(std::string stage, GaussianWindow window, std::optional<TileShape> tiles,
                 std::string label)
      : WholeGaussian(std::move(stage), std::move(window), std::move(label)), tiles_(tiles) {}

  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const double channels = input.channels;
    if (tiles_) return {Rate("gaussian tiles", 0, 0.5e-12), channels * tiles_->halves()};
    const int with_mask = window().mask ? 8 : 0;
    return {Rate("gaussian strips", 0, 0.1e-12), channels * (window().radius() + 6 + with_mask)};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel = tiles_ ? tile_kernel(window(), *tiles_, input, session.device())
                              : strip_kernel(window(), input, session.device());
    kernel.macros += formatted(" -D BORDER={}", static_cast<int>(window().border)) +
                     byte_product_macros(session.device());
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  std::optional<TileShape> tiles_;
};

}  // namespace

void add_mask(RowKernel& kernel, const UnsharpMask& mask, const PixelFormat& picture) {
  kernel.macros += " -D SHARPEN";
  kernel.macros += mask.luma_only && picture.color_channels() == 3 ? " -D LUMA" : "";
  kernel.macros += mask.keeps_alpha ? " -D KEEP_ALPHA" : "";
  const std::array numbers{mask.amount / 128, mask.threshold * 128};
  kernel.tables.push_back(to_bytes(std::span<const float>(numbers)));
}

std::shared_ptr<const Step> gaussian_matrix(const std::string& stage, const GaussianWindow& window,
                                            const PixelFormat& picture, const std::string& label,
                                            const DeviceInfo& device) {
  if (!has_byte_products(device)) return nullptr;
  if (picture.depth != 8 || window.weighted) return nullptr;
  std::optional<TileShape> tiles;
  if (!suits_strips({picture.channels, window.radius()}, window.mask.has_value(), device)) {
    if (!window.mask) tiles = tile_shape(picture.channels, window.radius(), device);
    if (!tiles) return nullptr;
  }
  return std::make_shared<GaussianMatrix>(stage, window, tiles, label);
}

}  // namespace gpufilter
