#include <algorithm>
#include <array>
#include <vector>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "device/device_rows.hpp"
#include "host/loops.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/window_rows.hpp"
#include "stages/window/window_stages.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t block = 64;

// Samples of a tile, whose `window` rows stay in the second-level cache: whole pixels of 1 to 4
// channels, and whole blocks. The wider a tile, the better memory is read ahead.
constexpr size_t tile_samples(size_t window) {
  constexpr size_t unit = 3 * block;
  return std::max(5 * unit, (size_t{1} << 16U) / (window + 2) / unit * unit);
}

template <bool largest, typename Sample>
[[gnu::always_inline]] inline Sample extreme(Sample a, Sample b) {
  return largest ? (a > b ? a : b) : (a < b ? a : b);
}

// out[i] = the extreme of a[i] and b[i]; `out` may be one of them.
template <bool largest, typename Sample>
[[gnu::always_inline]] inline void extremes(const Sample* a, const Sample* b, size_t samples,
                                            Sample* out) {
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i)
    out[i] = extreme<largest>(a[i], b[i]);
}

// out[i] = the extreme of a[i], b[i] and c[i].
template <bool largest, typename Sample>
[[gnu::always_inline]] inline void extremes(const Sample* a, const Sample* b, const Sample* c,
                                            size_t samples, Sample* out) {
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i)
    out[i] = extreme<largest>(extreme<largest>(a[i], b[i]), c[i]);
}

// Colours of invisible pixels become 0.
template <typename Sample>
[[gnu::always_inline]] inline void clear_invisible(const Sample* in, size_t channels,
                                                   size_t samples, Sample* out) {
  for (size_t i = 0; i < samples; i += channels) {
    const Sample alpha = in[i + channels - 1];
    for (size_t c = 0; c + 1 < channels; ++c)
      out[i + c] = alpha == 0 ? Sample{0} : in[i + c];
    out[i + channels - 1] = alpha;
  }
}

// The extremes of each `window` neighbours in a row: of two, of four, and so on, the last two of
// which overlap (M. van Droogenbroeck, H. Talbot: Fast computation of morphological operations with
// arbitrary structuring elements, 1996).
template <bool largest, typename Sample>
class AlongRows {
 public:
  AlongRows(size_t window, size_t channels, size_t samples)
      : window_(window), channels_(channels), work_(samples + window * channels + block) {}

  [[gnu::always_inline]] void fill(const Sample* in, size_t samples, Sample* out) {
    if (window_ == 3)
      return extremes<largest>(in, in + channels_, in + 2 * channels_, samples, out);
    const Sample* of_length = in;
    size_t length = 1;
    while (2 * length <= window_) {
      // A loop over whole blocks has no end of single samples; what it computes of the slack is
      // not used.
      const size_t rest = samples + (window_ - 2 * length) * channels_;
      extremes<largest>(of_length, of_length + length * channels_, divided_up(rest, block) * block,
                        work_.data());
      of_length = work_.data();
      length *= 2;
    }
    extremes<largest>(of_length, of_length + (window_ - length) * channels_, samples, out);
  }

 private:
  size_t window_;
  size_t channels_;
  std::vector<Sample> work_;
};

// The extremes of each `window` rows, given one row after the other (M. van Herk: A fast algorithm
// for local minimum and maximum filters, 1992): rows are taken in blocks as high as the window,
// which consists of the end of one block and the beginning of the next. Of three rows, the extremes
// are computed each time.
template <bool largest, typename Sample>
class AlongColumns {
 public:
  AlongColumns(size_t window, size_t samples)
      : window_(window), pitch_(samples), ends_(window * samples), beginning_(samples) {}

  void begin() { place_ = 0; }

  // Where the next row goes, for add().
  [[nodiscard]] Sample* next() { return end(place_); }

  // The extremes of the window that ends with the row in next(); of fewer rows at first.
  [[gnu::always_inline]] void add(size_t samples, Sample* out) {
    if (window_ == 3) {
      extremes<largest>(end(0), end(1), end(2), samples, out);
      place_ = (place_ + 1) % 3;
      return;
    }
    const Sample* row = end(place_);
    extremes<largest>(row, place_ == 0 ? row : beginning_.data(), samples, beginning_.data());
    if (++place_ < window_) {
      extremes<largest>(beginning_.data(), end(place_), samples, out);
      return;
    }
    std::copy_n(beginning_.data(), samples, out);
    for (size_t i = window_ - 1; i > 0; --i)
      extremes<largest>(end(i - 1), end(i), samples, end(i - 1));
    place_ = 0;
  }

 private:
  [[nodiscard]] Sample* end(size_t i) { return ends_.data() + i * pitch_; }

  size_t window_;
  size_t pitch_;
  std::vector<Sample> ends_;  // from row i of the block before on; up to place_: rows of this block
  std::vector<Sample> beginning_;
  size_t place_ = 0;
};

template <typename Sample>
struct MorphologyLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows* source, const MutableRows* target,
                                         int height, const MorphologyParameters* parameters) {
    parameters->operation == Morphology::dilate
        ? fill<true>(*source, *target, height, *parameters)
        : fill<false>(*source, *target, height, *parameters);
  }

  template <bool largest>
  [[gnu::always_inline]] static void fill(const ConstRows& source, const MutableRows& target,
                                          int height, const MorphologyParameters& parameters) {
    const int radius = parameters.radius;
    const auto channels = static_cast<size_t>(source.format.channels);
    const auto window = static_cast<size_t>(2 * radius + 1);
    const bool weighted = parameters.alpha == AlphaMode::weighted && source.format.has_alpha();
    const int columns = std::min(static_cast<int>(tile_samples(window) / channels), source.width);
    const size_t capacity = static_cast<size_t>(columns) * channels;
    WindowRows<Sample> rows(source, {.height = height,
                                     .border = parameters.border,
                                     .radius = radius,
                                     .columns = columns,
                                     .weighted = weighted});
    AlongRows<largest, Sample> along_rows(window, channels, capacity);
    AlongColumns<largest, Sample> along_columns(window, capacity);
    std::vector<Sample> visible(capacity + window * channels + rows.slack);
    rows.for_tiles(
        target.rows.begin - radius, [&](const Columns& tile) __attribute__((always_inline)) {
          const size_t samples = static_cast<size_t>(tile.count()) * channels;
          along_columns.begin();
          for (int y = target.rows.begin - radius; y < target.rows.end + radius; ++y) {
            rows.reach(y);
            const Sample* in = rows.row(y);
            if (largest && !rows.is_opaque(y)) {
              clear_invisible(in, channels, rows.samples(), visible.data());
              in = visible.data();
            }
            along_rows.fill(in, samples, along_columns.next());
            const int middle = y - radius;
            Sample* out =
                middle < target.rows.begin ? visible.data() : rows.target_at(target, middle);
            along_columns.add(samples, out);
            if (!largest && weighted) clear_invisible(out, channels, samples, out);
          }
        });
  }
};

constexpr std::array operation_names{"dilate", "erode", "open", "close"};

std::string name_of(Morphology operation) {
  return operation_names.at(static_cast<std::size_t>(operation));
}

std::string window_text(int radius) {
  return formatted("{0}x{0}", 2 * radius + 1);
}

// The largest or smallest samples on a device, in one step or two.
class DeviceExtremes final : public Step {
 public:
  enum class Part { squares, rows, columns };

  DeviceExtremes(const MorphologyParameters& parameters, Part part)
      : parameters_(parameters), part_(part) {}

  [[nodiscard]] StepTitle title() const override {
    constexpr std::array suffixes{"", " rows", " columns"};
    return {name_of(parameters_.operation) + suffixes.at(static_cast<std::size_t>(part_)),
            window_text(parameters_.radius)};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    if (part_ == Part::rows) return target;
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    if (part_ == Part::squares)
      return {Rate("extremes of squares", 1e-9, 1e-12), static_cast<double>(input.channels)};
    return {Rate("extremes of lines", 1e-9, 0.1e-12),
            static_cast<double>(input.channels * (parameters_.radius + 8))};
  }

  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& device,
                                                          const WindowUse& /*use*/) const override {
    constexpr std::array functions{"extremes_of_squares", "extremes_along_rows",
                                   "extremes_along_columns"};
    RowKernel kernel{.file = "morphology.cl",
                     .function = functions.at(static_cast<std::size_t>(part_))};
    const int radius = parameters_.radius;
    const bool weighs = parameters_.alpha == AlphaMode::weighted && input.has_alpha();
    kernel.macros =
        formatted("-D BORDER={} -D ALPHA_WEIGHTED={} -D RADIUS={} -D LARGEST={}{}",
                  static_cast<int>(parameters_.border), weighs ? 1 : 0, radius,
                  parameters_.operation == Morphology::dilate ? 1 : 0, byte_product_macros(device));
    const bool is_wide = part_ == Part::rows ? radius >= 8 && input.bytes_per_pixel() < 4
                                             : radius == 1 && input.bytes_per_pixel() < 4;
    kernel.pixels = part_ == Part::rows ? (is_wide ? 16 : 8) : is_wide ? 8 : 4;
    kernel.lines = part_ == Part::squares ? 16 : part_ == Part::rows ? 2 : 8;
    kernel.variant = window_text(radius);
    const double results = part_ == Part::rows ? static_cast<double>(kernel.pixels) : 8;
    return WindowKernel{std::move(kernel), 1 + 2.0 * radius / results};
  }

 private:
  MorphologyParameters parameters_;
  Part part_;
};

// A dilation or an erosion, on the processor.
class Extremes final : public Step {
 public:
  explicit Extremes(const MorphologyParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] StepTitle title() const override {
    return {name_of(parameters_.operation), window_text(parameters_.radius)};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.radius, source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {
        input.depth == 8 ? Rate("extremes 8", 0.3e-9, 20e-12) : Rate("extremes 16", 0.6e-9, 30e-12),
        static_cast<double>(input.channels)};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    run_loop_of_depth<MorphologyLoop>(source.format.depth, &source, &target, sizes.source.height,
                                      &parameters_);
  }

 private:
  MorphologyParameters parameters_;
};

// A dilation, an erosion, or both, in either order.
class MorphologyStage final : public Stage {
 public:
  explicit MorphologyStage(const MorphologyParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return name_of(parameters_.operation); }
  [[nodiscard]] std::string label() const override { return window_text(parameters_.radius); }
  [[nodiscard]] std::string key() const override {
    return formatted("{} {} {} {}", name(), parameters_.radius,
                     static_cast<int>(parameters_.border), static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] Lowered lower(const PictureContext& /*context*/) const override {
    Lowered lowered;
    Steps on_device;
    for (const Morphology operation : operations()) {
      MorphologyParameters own = parameters_;
      own.operation = operation;
      lowered.steps.push_back(std::make_shared<Extremes>(own));
      using Part = DeviceExtremes::Part;
      constexpr int max_square_radius = 3;
      const auto parts = own.radius <= max_square_radius ? std::vector{Part::squares}
                                                         : std::vector{Part::rows, Part::columns};
      for (const Part part : parts)
        on_device.push_back(std::make_shared<DeviceExtremes>(own, part));
    }
    lowered.steps_on = [on_device, on_host = lowered.steps](const DeviceInfo* device) {
      return device != nullptr ? on_device : on_host;
    };
    return lowered;
  }

 private:
  [[nodiscard]] std::vector<Morphology> operations() const {
    switch (parameters_.operation) {
      case Morphology::open:
        return {Morphology::erode, Morphology::dilate};
      case Morphology::close:
        return {Morphology::dilate, Morphology::erode};
      default:
        return {parameters_.operation};
    }
  }

  MorphologyParameters parameters_;
};

StageKind morphology_kind(Morphology operation, const std::string& help, const std::string& formula,
                          const std::string& alpha, const std::vector<std::string>& examples) {
  const std::string option = "--" + name_of(operation);
  return {.option = option,
          .type = NumberIn{1, MorphologyParameters::max_radius, true},
          .help = help,
          .parameters = {border_parameter(), alpha_parameter()},
          .formula = formula,
          .edges =
              "--border chooses which pixels lie outside the picture. With replicate and mirror "
              "these pixels change nothing.",
          .alpha = alpha,
          .examples = examples,
          .sample_values = {"1", "2", "9"},
          .from_options = [option, operation](const OptionValues& values) {
            return make_morphology({operation, values.number<int>(option),
                                    values.choice<Border>("--border"),
                                    values.choice<AlphaMode>("--alpha")});
          }};
}

constexpr const char* alpha_of_pairs =
    "Both steps treat alpha as --erode and --dilate do. --alpha independent applies the formula to "
    "every channel.";

}  // namespace

std::shared_ptr<const Stage> make_morphology(const MorphologyParameters& parameters) {
  return std::make_shared<MorphologyStage>(parameters);
}

StageKind dilate_stage_kind() {
  return morphology_kind(
      Morphology::dilate,
      "Grow light areas. Each sample becomes the largest one in the (2 * RADIUS + 1)-pixel square "
      "centred on it.",
      "out = the largest of the (2 * RADIUS + 1)^2 samples",
      "Alpha is dilated like any channel. Colours of pixels with alpha 0 count as 0. --alpha "
      "independent applies the formula to every channel.",
      {"in.png out.png --dilate 2"});
}

StageKind erode_stage_kind() {
  return morphology_kind(
      Morphology::erode,
      "Shrink light areas. Each sample becomes the smallest one in the (2 * RADIUS + 1)-pixel "
      "square centred on it.",
      "out = the smallest of the (2 * RADIUS + 1)^2 samples",
      "Alpha is eroded like any channel. Where it becomes 0, colours become 0. --alpha independent "
      "applies the formula to every channel.",
      {"in.png out.png --erode 2"});
}

StageKind open_stage_kind() {
  return morphology_kind(
      Morphology::open,
      "Remove light specks. The picture is eroded, then dilated: light areas into which a (2 * "
      "RADIUS + 1)-pixel square does not fit vanish, and others keep their size.",
      "out = --erode RADIUS, then --dilate RADIUS", alpha_of_pairs, {"scan.png out.png --open 1"});
}

StageKind close_stage_kind() {
  return morphology_kind(
      Morphology::close,
      "Remove dark specks. The picture is dilated, then eroded: dark areas into which a (2 * "
      "RADIUS + 1)-pixel square does not fit vanish, and others keep their size.",
      "out = --dilate RADIUS, then --erode RADIUS", alpha_of_pairs, {"scan.png out.png --close 1"});
}

}  // namespace gpufilter
