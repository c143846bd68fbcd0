#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_rows.hpp"
#include "image/float_samples.hpp"
#include "stage/background.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/geometry/geometry.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr int max_side = 1'000'000;

template <typename Sample>
void fill(Sample* row, int count, const std::array<std::int32_t, 4>& samples, int channels) {
  for (int x = 0; x < count; ++x) {
    for (int c = 0; c < channels; ++c)
      *row++ = static_cast<Sample>(samples.at(static_cast<size_t>(c)));
  }
}

// Pixels that get an opaque alpha.
template <typename Sample>
void add_alpha(const Sample* in, int count, int channels, Sample* out) {
  for (int x = 0; x < count; ++x) {
    for (int c = 0; c < channels; ++c)
      *out++ = *in++;
    *out++ = white_word<Sample>;
  }
}

template <typename Sample>
void copy_pixels(const std::uint8_t* in, int count, const PixelFormat& from, const PixelFormat& to,
                 std::uint8_t* out) {
  if (from.channels == to.channels) {
    std::memcpy(out, in, static_cast<size_t>(count) * from.bytes_per_pixel());
  } else {
    add_alpha(reinterpret_cast<const Sample*>(in), count, from.channels,
              reinterpret_cast<Sample*>(out));
  }
}

class Frame final : public OneStepStage {
 public:
  Frame(ImageSize size, PixelPosition corner, const PadColor& color)
      : size_(size), corner_(corner), color_(color) {}

  [[nodiscard]] std::string name() const override { return "pad"; }
  [[nodiscard]] std::string label() const override {
    return formatted("{}x{}", size_.width, size_.height);
  }
  [[nodiscard]] std::string key() const override {
    return formatted("pad {} +{}+{} {}", label(), corner_.x, corner_.y, pad_color_text(color_));
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{"pad pixels", 0.1e-9, 10e-12}, static_cast<double>(input.bytes_per_pixel())};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {size_, padded_format(input.format, color_)};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = output(at.source) == at.source};
  }
  // At least one row, because windows are never empty.
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    const int begin = std::clamp(target.begin - corner_.y, 0, source.height - 1);
    return {begin, std::clamp(target.end - corner_.y, begin + 1, source.height)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    for_words(target.format,
              [&]<typename Sample>(Sample) { run_samples<Sample>(source, target, sizes.source); });
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const auto samples = pad_samples(output(input).format, color_);
    std::vector<std::int32_t> numbers{corner_.x, corner_.y};
    numbers.insert(numbers.end(), samples.begin(), samples.end());
    return make_row_pass(session,
                         {.file = "pad.cl",
                          .function = "pad",
                          .tables = {to_bytes(numbers)},
                          .pixels = wide_pixels(input.format),
                          .variant = label()},
                         input, output(input));
  }

 private:
  template <typename Sample>
  void run_samples(const ConstRows& source, const MutableRows& target, ImageSize size) const {
    const auto samples = pad_samples(target.format, color_);
    const auto channels = static_cast<size_t>(target.format.channels);
    const int right = corner_.x + size.width;
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      auto* row = reinterpret_cast<Sample*>(target.row(y));
      const int from = y - corner_.y;
      if (from < 0 || from >= size.height) {
        fill(row, target.width, samples, target.format.channels);
        continue;
      }
      fill(row, corner_.x, samples, target.format.channels);
      copy_pixels<Sample>(
          source.row(from), size.width, source.format, target.format,
          reinterpret_cast<std::uint8_t*>(row + channels * static_cast<size_t>(corner_.x)));
      fill(row + channels * static_cast<size_t>(right), target.width - right, samples,
           target.format.channels);
    }
  }

  ImageSize size_;
  PixelPosition corner_;
  PadColor color_;
};

class Pad final : public Stage {
 public:
  explicit Pad(const PadParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "pad"; }
  [[nodiscard]] std::string label() const override {
    const auto& size = parameters_.size;
    return size ? formatted("{}x{}", size->width, size->height)
                : formatted("{}", fmt::join(parameters_.sides, ","));
  }
  [[nodiscard]] std::string key() const override {
    return formatted("pad {} {} {}", label(), static_cast<int>(parameters_.gravity),
                     pad_color_text(parameters_.color));
  }
  [[nodiscard]] StageTraits traits() const override {
    return {.has_up = true, .takes_floats = true};
  }
  // Crops to the frame, then adds the margin.
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const ImageSize& source = context.shape.size;
    const ImageSize size = size_for(source);
    if (!parameters_.size) {
      const PixelPosition corner{parameters_.sides[3], parameters_.sides[0]};
      return {.steps = {make_frame(size, corner, parameters_.color)}};
    }
    const ImageSize kept{std::min(size.width, source.width), std::min(size.height, source.height)};
    Lowered lowered;
    if (kept != source)
      lowered.steps.push_back(make_crop({kept, placed(kept, source, parameters_.gravity)}));
    lowered.steps.push_back(
        make_frame(size, placed(kept, size, parameters_.gravity), parameters_.color));
    return lowered;
  }

 private:
  [[nodiscard]] ImageSize size_for(ImageSize source) const {
    if (parameters_.size) return *parameters_.size;
    const auto& [top, right, bottom, left] = parameters_.sides;
    constexpr int max = 1'000'000'000;  // far above what --max-pixels allows
    const auto sum = [](int a, int b, int c) {
      return static_cast<int>(std::min<std::int64_t>(std::int64_t{a} + b + c, max));
    };
    return {sum(left, source.width, right), sum(top, source.height, bottom)};
  }

  PadParameters parameters_;
};

[[noreturn]] void refuse(const std::string& value) {
  throw UsageError(
      formatted("--pad {}: write WIDTHxHEIGHT, a number of pixels for all sides, or "
                "TOP,RIGHT,BOTTOM,LEFT; at most {} each",
                printable(value), max_side));
}

int take_side(const std::string& value, const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) refuse(value);
  const double side = parse_number("--pad", text);
  if (side > max_side) refuse(value);
  return static_cast<int>(side);
}

void set_size(PadParameters& parameters, const std::string& value) {
  if (const std::size_t cross = value.find('x'); cross != std::string::npos) {
    parameters.size = {take_side(value, value.substr(0, cross)),
                       take_side(value, value.substr(cross + 1))};
    if (parameters.size->width > 0 && parameters.size->height > 0) return;
    throw UsageError(formatted("--pad {}: WIDTH and HEIGHT must be at least 1", printable(value)));
  }
  std::vector<int> sides;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    sides.push_back(take_side(value, value.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (sides.size() == 1) sides.resize(4, sides[0]);
  if (sides.size() != 4) refuse(value);
  std::copy(sides.begin(), sides.end(), parameters.sides.begin());
}

std::shared_ptr<const Stage> pad_from_options(const OptionValues& values) {
  PadParameters parameters{.color = pad_color_of(values)};
  parameters.gravity = gravity_of(values, Gravity::center);
  set_size(parameters, values.text("--pad"));
  return make_pad(parameters);
}

}  // namespace

StageParameter pad_color_parameter() {
  return {.option = "--pad-color",
          .type = FreeText{"COLOR|transparent",
                           {{"COLOR", "a name such as white, or #rgb or #rrggbb"},
                            {"transparent", "the result has alpha"}},
                           {"white", "black", "transparent"}},
          .default_value = "white",
          .help = "The colour of the margin."};
}

PadColor pad_color_of(const OptionValues& values) {
  const std::string& text = values.text("--pad-color");
  if (text == "transparent") return std::nullopt;
  try {
    return parse_color(text);
  } catch (const UsageError& error) {
    throw UsageError(formatted("--pad-color {}", error.what()));
  }
}

PixelFormat padded_format(const PixelFormat& input, const PadColor& color) {
  return {color || input.has_alpha() ? input.channels : input.channels + 1, input.depth};
}

std::string pad_color_text(const PadColor& color) {
  return color ? formatted("#{:02x}{:02x}{:02x}", (*color)[0], (*color)[1], (*color)[2])
               : "transparent";
}

std::array<std::int32_t, 4> pad_samples(const PixelFormat& format, const PadColor& color) {
  std::array<std::int32_t, 4> samples{};
  if (!color) return samples;
  const PixelFormat integers{format.channels, format.is_float() ? 8 : format.depth};
  const Background background = background_in(integers, *color);
  std::copy_n(background.begin(), format.color_channels(), samples.begin());
  if (format.has_alpha())
    samples.at(static_cast<size_t>(format.channels) - 1) =
        static_cast<std::int32_t>(integers.max_sample());
  if (format.is_float()) {
    for (std::int32_t& sample : samples)
      sample = static_cast<std::int32_t>(
          bits_of(float_of_sample(static_cast<std::uint32_t>(sample), integers.max_sample())));
  }
  return samples;
}

std::shared_ptr<const OneStepStage> make_frame(ImageSize size, PixelPosition corner,
                                               const PadColor& color) {
  return std::make_shared<Frame>(size, corner, color);
}

std::shared_ptr<const Stage> make_pad(const PadParameters& parameters) {
  return std::make_shared<Pad>(parameters);
}

StageKind pad_stage_kind() {
  return {.option = "--pad",
          .type = FreeText{"WxH|N|T,R,B,L",
                           {{"WxH", "exactly W by H pixels; larger pictures are cropped"},
                            {"N", "N pixels on each side"},
                            {"T,R,B,L", "pixels at the top, right, bottom and left"}}},
          .help = "Add a margin. With WxH, results of different pictures have the same size.",
          .parameters = {gravity_parameter(), pad_color_parameter()},
          .formula = "out(x, y) = in(x - X, y - Y) within the picture, otherwise --pad-color",
          .edges = "None: pixels are copied.",
          .alpha = "Is copied; the margin is opaque, or transparent black.",
          .examples = {"in.jpg out.jpg --pad 20 --pad-color black",
                       "photos/ squares/ --resize 800x800 --pad 800x800"},
          .sample_values = {"80x30", "3", "1,2,0,5"},
          .from_options = pad_from_options};
}

}  // namespace gpufilter
