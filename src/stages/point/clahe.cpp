// --clahe: contrast that is equalized for each tile, and limited.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_rows.hpp"
#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "host/parallel.hpp"
#include "image/image.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

struct ClaheParameters {
  double limit = 2;
  int tiles = 8;  // in each direction
};

// The position in 0 ... n - 1 that position i from 0 on is reflected to, about the last pixel.
int reflected(int i, int n) {
  while (i < 0 || i >= n)
    i = n == 1 ? 0 : (i < 0 ? -i : 2 * n - 2 - i);
  return i;
}

// The width or height of a tile. As in OpenCV, a picture whose sides are not both multiples of
// `tiles` is made larger until they are, and always in both directions.
ImageSize tile_size(ImageSize picture, int tiles) {
  if (picture.width % tiles == 0 && picture.height % tiles == 0)
    return {picture.width / tiles, picture.height / tiles};
  return {picture.width / tiles + 1, picture.height / tiles + 1};
}

// The rows as grey pictures; alpha stays.
Image luma_of(const ConstRows& rows) {
  static const auto gray = make_gray();
  const PictureShape shape = gray->output(shape_of(rows));
  Image luma(rows.width, rows.rows, shape.format);
  gray->run(rows, luma.rows(), {shape.size, shape.size});
  return luma;
}

// Counts above the limit are distributed evenly over all levels.
void clip(std::vector<int>& counts, int limit) {
  const auto levels = static_cast<int>(counts.size());
  int clipped = 0;
  for (int& count : counts) {
    clipped += std::max(count - limit, 0);
    count = std::min(count, limit);
  }
  for (int& count : counts)
    count += clipped / levels;
  int rest = clipped % levels;
  const int step = rest > 0 ? std::max(levels / rest, 1) : 1;
  for (int i = 0; i < levels && rest > 0; i += step, --rest)
    ++counts[static_cast<size_t>(i)];
}

// OpenCV's createCLAHE(): a look-up table for each tile, row by row of tiles. Single precision is
// part of the formula.
class TileTables {
 public:
  TileTables(const WholePicture& picture, const ClaheParameters& parameters)
      : shape_(picture.shape()),
        tiles_(parameters.tiles),
        tile_(tile_size(shape_.size, tiles_)),
        levels_(shape_.format.max_sample() + 1),
        table_(levels_ * static_cast<size_t>(tiles_) * static_cast<size_t>(tiles_)) {
    const auto pixels = static_cast<double>(tile_.pixels());
    const auto limit =
        std::max(static_cast<int>(parameters.limit * pixels / static_cast<double>(levels_)), 1);
    run_parts(tiles_, [&](int row) { make_row(picture, row, limit); });
  }

  [[nodiscard]] const std::vector<std::uint16_t>& table() const { return table_; }
  [[nodiscard]] ImageSize tile() const { return tile_; }

 private:
  using Counts = std::vector<std::vector<int>>;  // of each tile in a row of tiles

  template <typename Sample>
  void count_row(const Sample* luma, size_t step, Counts& counts) const {
    for (int tile = 0; tile < tiles_; ++tile) {
      std::vector<int>& own = counts[static_cast<size_t>(tile)];
      const int begin = tile * tile_.width;
      const int inside = std::min(begin + tile_.width, shape_.size.width);
      for (int x = begin; x < inside; ++x)
        ++own[luma[static_cast<size_t>(x) * step]];
      for (int x = std::max(begin, inside); x < begin + tile_.width; ++x)
        ++own[luma[static_cast<size_t>(reflected(x, shape_.size.width)) * step]];
    }
  }

  void count_rows(const WholePicture& picture, const RowRange& rows, Counts& counts) const {
    Image image(shape_.size.width, rows, shape_.format);
    picture.read(image.rows());
    const Image luma = luma_of(image.rows());
    const auto step = static_cast<size_t>(luma.format().channels);
    for (int y = rows.begin; y < rows.end; ++y) {
      const std::uint8_t* row = luma.rows().row(y);
      shape_.format.depth == 8
          ? count_row(row, step, counts)
          : count_row(reinterpret_cast<const std::uint16_t*>(row), step, counts);
    }
  }

  void make_row(const WholePicture& picture, int row, int limit) {
    Counts counts(static_cast<size_t>(tiles_), std::vector<int>(levels_));
    const int height = shape_.size.height;
    const int end = (row + 1) * tile_.height;
    constexpr int portion = 16;  // rows that are read at a time
    for (int y = row * tile_.height; y < std::min(end, height); y += portion)
      count_rows(picture, {y, std::min({y + portion, end, height})}, counts);
    for (int y = std::max(row * tile_.height, height); y < end; ++y) {
      const int source = reflected(y, height);
      count_rows(picture, {source, source + 1}, counts);
    }
    auto* to = table_.data() + static_cast<size_t>(row) * static_cast<size_t>(tiles_) * levels_;
    const float scale = static_cast<float>(levels_ - 1) / static_cast<float>(tile_.pixels());
    for (std::vector<int>& tile : counts) {
      clip(tile, limit);
      int sum = 0;
      for (const int count : tile) {
        sum += count;
        const float level = std::nearbyint(static_cast<float>(sum) * scale);
        *to++ = static_cast<std::uint16_t>(std::min(level, static_cast<float>(levels_ - 1)));
      }
    }
  }

  PictureShape shape_;
  int tiles_;
  ImageSize tile_;
  size_t levels_;
  std::vector<std::uint16_t> table_;
};

// The two tiles between whose middles a position lies, and the weight of the second.
struct Between {
  int first = 0;
  int second = 0;
  float weight = 0;
};

Between between(int position, float tiles_a_pixel, int tiles) {
  const float place = static_cast<float>(position) * tiles_a_pixel - 0.5F;
  const float floor = std::floor(place);
  const auto first = static_cast<int>(floor);
  return {std::max(first, 0), std::min(first + 1, tiles - 1), place - floor};
}

// What the pixels of a row need of the tables, column by column: where the tables of the two tiles
// begin, and the weight of the second.
struct TileColumns {
  std::vector<std::uint32_t> left;
  std::vector<std::uint32_t> right;
  std::vector<float> weights;
};

// A row of a picture, and the tables of the tiles above and below it.
template <typename Sample>
struct ClaheRow {
  const Sample* in;
  const Sample* luma;
  size_t luma_channels;
  const std::uint16_t* above;
  const std::uint16_t* below;
  float weight;  // of those below
  size_t channels;
  size_t colors;
  Sample* out;
};

template <typename Sample>
struct ClaheLoop {
  static constexpr size_t block = 256;  // pixels, whose numbers stay in the first-level cache
  static constexpr std::int32_t max = std::numeric_limits<Sample>::max();

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ClaheRow<Sample> row, const TileColumns* columns) {
    const size_t width = columns->weights.size();
    std::array<std::int32_t, block> changes;
    std::array<std::int32_t, 4 * block> each{};
    for (size_t x = 0; x < width; x += block) {
      const size_t count = std::min(block, width - x);
      find_changes(row, *columns, x, count, changes.data());
      for (size_t i = 0; i < count; ++i) {
        for (size_t c = 0; c < row.colors; ++c)
          each[row.channels * i + c] = changes[i];
      }
      const Sample* in = row.in + row.channels * x;
      Sample* out = row.out + row.channels * x;
      for (size_t i = 0; i < row.channels * count; ++i)
        out[i] = static_cast<Sample>(std::clamp(std::int32_t{in[i]} + each[i], 0, max));
    }
  }

 private:
  // How the luma of `count` pixels from column `x` on changes.
  [[gnu::always_inline]] static void find_changes(const ClaheRow<Sample>& row,
                                                  const TileColumns& columns, size_t x,
                                                  size_t count, std::int32_t* changes) {
    std::array<std::int32_t, block> lumas;
    std::array<std::array<std::uint16_t, block>, 4> levels;
    for (size_t i = 0; i < count; ++i) {
      const std::uint32_t luma = row.luma[row.luma_channels * (x + i)];
      const size_t left = columns.left[x + i] + luma;
      const size_t right = columns.right[x + i] + luma;
      lumas[i] = static_cast<std::int32_t>(luma);
      levels[0][i] = row.above[left];
      levels[1][i] = row.above[right];
      levels[2][i] = row.below[left];
      levels[3][i] = row.below[right];
    }
    const float* const weights = columns.weights.data() + x;
    for (size_t i = 0; i < count; ++i) {
      const float rest = 1.0F - weights[i];
      const float above =
          static_cast<float>(levels[0][i]) * rest + static_cast<float>(levels[1][i]) * weights[i];
      const float below =
          static_cast<float>(levels[2][i]) * rest + static_cast<float>(levels[3][i]) * weights[i];
      const float level = above * (1.0F - row.weight) + below * row.weight;
      changes[i] = static_cast<std::int32_t>(to_sample<Sample>(level)) - lumas[i];
    }
  }
};

class ClaheStep final : public Step {
 public:
  ClaheStep(const WholePicture& picture, const ClaheParameters& parameters, std::string label)
      : label_(std::move(label)), tiles_(parameters.tiles), tables_(picture, parameters) {
    const std::uint32_t levels = picture.shape().format.max_sample() + 1;
    for (int x = 0; x < picture.shape().size.width; ++x) {
      const Between column = between(x, 1.0F / static_cast<float>(tables_.tile().width), tiles_);
      columns_.left.push_back(levels * static_cast<std::uint32_t>(column.first));
      columns_.right.push_back(levels * static_cast<std::uint32_t>(column.second));
      columns_.weights.push_back(column.weight);
    }
  }

  [[nodiscard]] StepTitle title() const override { return {"clahe", label_}; }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("clahe {}x{}", input.channels, input.depth), 4e-9, 30e-12}, 1};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    source.format.depth == 8 ? run_rows<std::uint8_t>(source, target)
                             : run_rows<std::uint16_t>(source, target);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const std::array<float, 2> tiles_a_pixel{1.0F / static_cast<float>(tables_.tile().width),
                                             1.0F / static_cast<float>(tables_.tile().height)};
    return make_row_pass(session,
                         {.file = "clahe.cl",
                          .function = "clahe",
                          .macros = formatted("-D TILES={}", tiles_),
                          .tables = {to_bytes(tables_.table()), to_bytes(tiles_a_pixel)},
                          .pixels = wide_pixels(input.format),
                          .variant = label_},
                         input, input);
  }

 private:
  template <typename Sample>
  void run_rows(const ConstRows& source, const MutableRows& target) const {
    const PixelFormat& format = source.format;
    const Image luma = luma_of(source.part(target.rows));
    const size_t tables = size_t{format.max_sample() + 1} * static_cast<size_t>(tiles_);
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      const Between row = between(y, 1.0F / static_cast<float>(tables_.tile().height), tiles_);
      const std::uint16_t* const first = tables_.table().data();
      run_loop<ClaheLoop<Sample>>(
          ClaheRow<Sample>{.in = reinterpret_cast<const Sample*>(source.row(y)),
                           .luma = reinterpret_cast<const Sample*>(luma.rows().row(y)),
                           .luma_channels = static_cast<size_t>(luma.format().channels),
                           .above = first + static_cast<size_t>(row.first) * tables,
                           .below = first + static_cast<size_t>(row.second) * tables,
                           .weight = row.weight,
                           .channels = static_cast<size_t>(format.channels),
                           .colors = static_cast<size_t>(format.color_channels()),
                           .out = reinterpret_cast<Sample*>(target.row(y))},
          &columns_);
    }
  }

  std::string label_;
  int tiles_;
  TileTables tables_;
  TileColumns columns_;
};

class Clahe final : public Stage {
 public:
  Clahe(const ClaheParameters& parameters, std::string label)
      : parameters_(parameters), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return "clahe"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    return formatted("clahe {} {}", parameters_.limit, parameters_.tiles);
  }
  [[nodiscard]] StageTraits traits() const override { return {.keeps_picture = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (context.kept == nullptr)
      return {.demand = Demand{.whole = Turn{}, .cost = {{"clahe tables", 4e-9, 30e-12}, 1}}};
    return {.steps = {std::make_shared<ClaheStep>(*context.kept, parameters_, label_)}};
  }

 private:
  ClaheParameters parameters_;
  std::string label_;
};

std::shared_ptr<const Stage> clahe_from_options(const OptionValues& values) {
  const std::string& value = values.text("--clahe");
  const std::string words = "--clahe " + printable(value);
  const size_t comma = std::min(value.find(','), value.size());
  ClaheParameters parameters;
  parameters.limit = parse_number(words, value.substr(0, comma));
  double tiles = parameters.tiles;
  if (comma < value.size()) tiles = parse_number(words, value.substr(comma + 1));
  if (parameters.limit <= 0 || parameters.limit > 1000)
    throw UsageError(words + ": LIMIT must be above 0 and at most 1000");
  if (tiles < 1 || tiles > 16 || tiles != std::floor(tiles))
    throw UsageError(words + ": TILES must be a whole number from 1 to 16");
  parameters.tiles = static_cast<int>(tiles);
  return std::make_shared<Clahe>(parameters, value);
}

}  // namespace

StageKind clahe_stage_kind() {
  return {
      .option = "--clahe",
      .type = FreeText{"LIMIT|LIMIT,TILES",
                       {{"LIMIT", "of the contrast: 2 is moderate, 1 adds hardly any"},
                        {"LIMIT,TILES",
                         "in TILES x TILES parts of the picture, 1 to 16; 8 if not "
                         "given"}}},
      .help =
          "Equalize contrast part by part. The histogram of each tile of the picture is spread, "
          "but "
          "no tone more than LIMIT times the mean; between the middles of tiles the results mix.",
      .formula =
          "L = luma as --gray computes it; out = x + L' - L, limited to 0..max\n"
          "L' is OpenCV's createCLAHE(LIMIT, (TILES, TILES)) of L, with 65536 levels for 16 bits: "
          "tables of tiles, interpolated bilinearly in single precision, halves to even.",
      .edges =
          "A picture that TILES does not divide is reflected about its right and lower edge to "
          "count tones; all of it is read first.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --clahe 2", "in.jpg out.jpg --clahe 3,4"},
      .sample_values = {"2", "3.5,3", "40,16"},
      .from_options = clahe_from_options};
}

}  // namespace gpufilter
