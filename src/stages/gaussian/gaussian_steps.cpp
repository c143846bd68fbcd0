#include "stages/gaussian/gaussian_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/elementary.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "device/device_rows.hpp"
#include "image/image.hpp"
#include "stage/device/row_kernel.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/step.hpp"
#include "stages/gaussian/gaussian_rows.hpp"
#include "stages/gaussian/gaussian_tile_rows.hpp"

namespace gpufilter {
namespace {

// A Gaussian whose two directions are one step.
class WholeGaussian : public Step {
 public:
  // `stage` is the name in reports.
  WholeGaussian(std::string stage, GaussianWindow window, std::string label)
      : stage_(std::move(stage)), window_(std::move(window)), label_(std::move(label)) {}

  [[nodiscard]] StepTitle title() const final { return {stage_, label_}; }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const final {
    return border_rows(window_.border, target, window_.radius(), source.height);
  }

 protected:
  [[nodiscard]] const GaussianWindow& window() const { return window_; }

 private:
  std::string stage_;
  GaussianWindow window_;
  std::string label_;
};

// Makes the kernel's results those of an unsharp mask (kernels/gaussian/unsharp_mask.cl): adds
// macros, and a table after the others.
void add_mask(RowKernel& kernel, const UnsharpMask& mask, const PixelFormat& picture) {
  kernel.macros += " -D SHARPEN";
  kernel.macros += mask.luma_only && picture.color_channels() == 3 ? " -D LUMA" : "";
  kernel.macros += mask.keeps_alpha ? " -D KEEP_ALPHA" : "";
  const std::array numbers{mask.amount / 128, mask.threshold * 128};
  kernel.tables.push_back(to_bytes(numbers));
}

// ---- One kernel, for GPUs with matrix units ----

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
  // Rows of results that `source_chunks` chunks of the source complete.
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
  const auto start_bytes = to_bytes(starts);
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

// The step that does the work of both, for pictures of this format on `device`; nullptr if the
// device has no matrix units for bytes, or the window does not suit them: 16-bit samples, colours
// weighted by alpha, radii whose sums exceed local memory, and masks of radii that strips do not
// suit.
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

// ---- A step for each direction, and the processor's for both ----

enum class GaussianDirection { rows, columns };

// The window for pictures of this format; without the distances whose weights are 0.
GaussianWindow window_for(const GaussianParameters& parameters, const PixelFormat& picture) {
  GaussianWindow window;
  window.weights =
      gaussian_weights(parameters.sigma, parameters.truncate, gaussian_weight_bits(picture.depth));
  while (window.weights.back() == 0)
    window.weights.pop_back();
  window.border = parameters.border;
  window.weighted = parameters.alpha == AlphaMode::weighted && picture.has_alpha();
  return window;
}

// Rows of the result between two moves of the rows that are needed again.
int rows_at_once(const GaussianWindow& window) {
  constexpr int at_least = 16;
  return std::max(at_least, 2 * window.radius());
}

RowRange rows_between(const GaussianWindow& window) {
  return {0, 2 * window.radius() + rows_at_once(window)};
}

// Along rows, then along columns, from the picture's top to its bottom. Keeps the rows between the
// directions that later ones need too.
class TwoSteps {
 public:
  TwoSteps(const ConstRows& source, const PixelFormat& picture, int height,
           const GaussianWindow& window)
      : source_(source), picture_(picture), height_(height), window_(window) {}

  void fill(const MutableRows& target) {
    const int step = rows_at_once(window_);
    for (int y = target.rows.begin; y < target.rows.end; y += step)
      fill_some(target.part({y, std::min(y + step, target.rows.end)}));
  }

 private:
  void fill_some(const MutableRows& target) {
    if (memory_.width() == 0)
      memory_ = Image(source_.width, rows_between(window_), gaussian_between(picture_, window_));
    const RowRange needed = border_rows(window_.border, target.rows, window_.radius(), height_);
    int ready = needed.begin;
    if (needed.begin >= held_.begin && needed.begin < held_.end) {
      ready = std::min(held_.end, needed.end);
      const int first = needed.begin - held_.begin;
      std::memmove(memory_.rows().row(0), memory_.rows().row(first),
                   static_cast<std::size_t>(ready - needed.begin) * memory_.pitch());
    }
    held_ = needed;
    const MutableRows between = memory_.rows().part({0, needed.count()}).renumbered(needed.begin);
    gaussian_along_rows(source_, between.part({ready, needed.end}), window_);
    gaussian_along_columns(between, target, height_, window_);
  }

  ConstRows source_;
  PixelFormat picture_;
  int height_;
  const GaussianWindow& window_;
  Image memory_;
  RowRange held_;
};

// Fills `target` from `source`, which has the rows around it, in a picture `height` high: by
// gaussian_tile_rows(), but along rows and then along columns where pixels are not opaque and
// colours are weighted by alpha. For windows and pictures of which has_gaussian_tiles() is true.
void gaussian_both_ways(const ConstRows& source, const MutableRows& target, int height,
                        const GaussianWindow& window) {
  // The rows that are computed again, with the sums along the rows around them, where a pixel is
  // not opaque.
  const int step = window.weighted ? std::max(256, 16 * window.radius()) : target.rows.count();
  TwoSteps two_steps(source, target.format, height, window);
  for (int y = target.rows.begin; y < target.rows.end; y += step) {
    const MutableRows part = target.part({y, std::min(y + step, target.rows.end)});
    if (!gaussian_tile_rows(source, part, height, window)) two_steps.fill(part);
  }
}

// Bytes of the rows between the directions that a call takes for pictures of this width, because
// there may be pixels that are not opaque.
std::uint64_t gaussian_bytes_between(int width, const PixelFormat& picture,
                                     const GaussianWindow& window) {
  if (!window.weighted) return 0;
  return row_pitch(width, gaussian_between(picture, window)) *
         static_cast<std::uint64_t>(rows_between(window).count());
}

// Both directions at once, on the processor.
class GaussianBothWays final : public WholeGaussian {
 public:
  using WholeGaussian::WholeGaussian;

  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const Rate rate = window().weighted ? Rate("gaussian both ways weighted 8", 0.2e-9, 2e-12)
                                        : Rate("gaussian both ways 8", 0.04e-9, 0.2e-12);
    return {rate, static_cast<double>(input.channels) * (window().radius() + 2)};
  }
  // Sums along the rows around the target are computed again for each call.
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    constexpr int enough = 128;
    const int radius = window().radius();
    return {
        .suitable_rows = std::max(4 * radius, std::min(16 * radius, enough)),
        .scratch_bytes = gaussian_bytes_between(at.source.size.width, at.source.format, window())};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    gaussian_both_ways(source, target, sizes.source.height, window());
  }
};

// The Gaussian along rows or along columns.
class GaussianStep final : public Step {
 public:
  GaussianStep(GaussianDirection direction, std::string stage, GaussianWindow window,
               const PixelFormat& picture, std::string label)
      : direction_(direction),
        stage_(std::move(stage)),
        window_(std::move(window)),
        picture_(picture),
        label_(std::move(label)) {}

  [[nodiscard]] StepTitle title() const override {
    return {stage_ + (along_rows() ? " rows" : " columns"), label_};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, along_rows() ? gaussian_between(picture_, window_) : picture_};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    if (along_rows()) return target;
    return border_rows(window_.border, target, window_.radius(), source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    const bool deep = picture_.depth == 16;
    const Rate rate = window_.weighted ? Rate(deep ? "gaussian weighted 16" : "gaussian weighted 8",
                                              deep ? 1e-9 : 0.5e-9, deep ? 2e-12 : 1e-12)
                                       : Rate(deep ? "gaussian 16" : "gaussian 8",
                                              deep ? 0.15e-9 : 0.05e-9, deep ? 0.4e-12 : 0.2e-12);
    return {rate, static_cast<double>(picture_.channels) * (window_.radius() + 2)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    if (along_rows()) {
      gaussian_along_rows(source, target, window_);
    } else {
      gaussian_along_columns(source, target, sizes.source.height, window_);
    }
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel{.file = "gaussian.cl",
                     .function = along_rows() ? "gaussian_rows" : "gaussian_columns"};
    kernel.macros = formatted("-D BORDER={} -D ALPHA_WEIGHTED={}", static_cast<int>(window_.border),
                              window_.weighted ? 1 : 0);
    constexpr int unrolled = 8;
    if (session.device().kind == DeviceKind::gpu && window_.radius() <= unrolled)
      kernel.macros += formatted(" -D RADIUS={}", window_.radius());
    kernel.formats = format_macros(picture_);
    kernel.pixels = 1;
    kernel.lines = along_rows() ? 1 : 4;  // which share what they read
    kernel.tables = {table_of(window_.weights)};
    if (window_.mask) add_mask(kernel, *window_.mask, picture_);
    kernel.variant = label_;
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  [[nodiscard]] static std::vector<std::uint8_t> table_of(std::vector<std::int32_t> weights) {
    weights.insert(weights.begin(), static_cast<std::int32_t>(weights.size()) - 1);
    return to_bytes(weights);
  }
  [[nodiscard]] bool along_rows() const { return direction_ == GaussianDirection::rows; }

  GaussianDirection direction_;
  std::string stage_;
  GaussianWindow window_;
  PixelFormat picture_;  // of the source of the first step and of the result of the second
  std::string label_;
};

}  // namespace

std::vector<std::int32_t> gaussian_weights(double sigma, double truncate, int bits) {
  const int radius = static_cast<int>(std::ceil(truncate * sigma));
  std::vector<double> bell;
  double sum = 0;
  for (int d = 0; d <= radius; ++d) {
    bell.push_back(exponential(-static_cast<double>(d) * d / (2 * sigma * sigma)));
    sum += (d == 0 ? 1 : 2) * bell.back();
  }
  std::vector<std::int32_t> weights;
  std::int32_t middle = 1 << bits;
  for (const double height : bell) {
    weights.push_back(static_cast<std::int32_t>(std::floor(height / sum * (1 << bits) + 0.5)));
    if (weights.size() > 1) middle -= 2 * weights.back();
  }
  weights.front() = middle;
  return weights;
}

Lowered lowered_gaussian(const std::string& stage, const GaussianParameters& parameters,
                         const std::optional<UnsharpMask>& mask, const PixelFormat& picture) {
  GaussianWindow window = window_for(parameters, picture);
  window.mask = mask;
  const std::string label =
      formatted("sigma {}, {} weights", parameters.sigma, 2 * window.radius() + 1);
  const Steps both{
      std::make_shared<GaussianStep>(GaussianDirection::rows, stage, window, picture, label),
      std::make_shared<GaussianStep>(GaussianDirection::columns, stage, window, picture, label)};
  const auto steps_on = [=](const DeviceInfo* device) {
    std::shared_ptr<const Step> one;
    if (device != nullptr) {
      one = gaussian_matrix(stage, window, picture, label, *device);
    } else if (has_gaussian_tiles(picture, window)) {
      one = std::make_shared<GaussianBothWays>(stage, window, label);
    }
    return one ? Steps{one} : both;
  };
  return {.steps = both, .steps_on = steps_on};
}

}  // namespace gpufilter
