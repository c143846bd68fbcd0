#include "stages/resize/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "device/device_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/resize/resize_rows.hpp"

namespace gpufilter {
namespace {

// A side in whole pixels; nothing if the text is empty.
std::optional<int> parse_side(const std::string& value, const std::string& text) {
  if (text.empty()) return std::nullopt;
  constexpr double max = 1'000'000;
  const double side = parse_number("--resize", text);
  if (side < 1 || side > max) {
    throw UsageError(
        formatted("--resize {}: sides are from 1 to {:.0f} pixels", printable(value), max));
  }
  return static_cast<int>(side);
}

bool consists_of(const std::string& text, const char* characters) {
  return text.find_first_not_of(characters) == std::string::npos;
}

// ImageMagick's signs behind a size: "800x600^".
bool set_sign(ResizeParameters& parameters, char sign) {
  switch (sign) {
    case '^':
      parameters.fit = ResizeFit::cover;
      return true;
    case '!':
      parameters.fit = ResizeFit::fill;
      return true;
    case '>':
      parameters.only = ResizeOnly::shrink;
      return true;
    case '<':
      parameters.only = ResizeOnly::enlarge;
      return true;
    default:
      return false;
  }
}

void set_percent(ResizeParameters& parameters, const std::string& value, const std::string& size) {
  constexpr double max = 10'000;
  parameters.percent = parse_number("--resize", size.substr(0, size.size() - 1));
  if (*parameters.percent > 0 && *parameters.percent <= max) return;
  throw UsageError(
      formatted("--resize {}: a percentage is above 0 and up to {}", printable(value), max));
}

// Sets the box or percentage of `value`: "800x600", "800", "800x", "x600", "50%", and what
// ImageMagick's signs behind it mean: '^' cover, '!' fill, '>' shrink only, '<' enlarge only.
// Throws UsageError.
void set_resize_size(ResizeParameters& parameters, const std::string& value) {
  std::string size = value;
  while (!size.empty() && set_sign(parameters, size.back()))
    size.pop_back();
  if (size.size() > 1 && size.back() == '%' && consists_of(size, "0123456789.%"))
    return set_percent(parameters, value, size);
  std::ranges::replace(size, 'X', 'x');
  const std::size_t cross = std::min(size.find('x'), size.size());
  if (!consists_of(size, "0123456789x") || size.find('x', cross + 1) != std::string::npos ||
      size.empty() || size == "x") {
    throw UsageError(
        formatted("--resize {}: write WIDTHxHEIGHT, WIDTH, xHEIGHT or a percentage, such as "
                  "800x600 or 50%",
                  printable(value)));
  }
  parameters.width = parse_side(value, size.substr(0, cross));
  if (cross < size.size()) parameters.height = parse_side(value, size.substr(cross + 1));
}

enum class ResizeDirection { rows, columns };

// Resizing along rows or along columns.
class ResizeStep final : public Step {
 public:
  // From `source` pixels along this direction, of which `extent` are the picture's, to `target`.
  ResizeStep(ResizeDirection direction, const PixelFormat& picture, bool weighted, int source,
             double extent, int target, ResizeKernel kernel)
      : direction_(direction),
        picture_(picture),
        weighted_(weighted),
        length_(target),
        taps_(make_resize_taps(source, target, kernel, picture.depth, extent)),
        tables_(taps_, along_rows()) {}

  [[nodiscard]] StepTitle title() const override {
    return {along_rows() ? "resize rows" : "resize columns", formatted("to {}", length_)};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    if (along_rows()) return {{length_, input.size.height}, resize_between(picture_, weighted_)};
    return {{input.size.width, length_}, picture_};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize /*source*/) const override {
    if (along_rows()) return target;
    const auto first = taps_.first.begin();
    return {*(first + target.begin), *(first + target.end - 1) + taps_.count};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    const Rate rate = weighted_      ? Rate("resize weighted", 2e-9, 2e-12)
                      : along_rows() ? Rate("resize rows", 0.5e-9, 1e-12)
                                     : Rate("resize columns", 0.1e-9, 1e-12);
    return {rate, static_cast<double>(picture_.channels) * taps_.count};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    along_rows() ? resize_along_rows(source, target, taps_, tables_, weighted_)
                 : resize_along_columns(source, target, taps_, tables_, weighted_);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    RowKernel kernel = resize_kernel(along_rows(), picture_, weighted_, taps_);
    kernel.variant = title().label;
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  [[nodiscard]] bool along_rows() const { return direction_ == ResizeDirection::rows; }

  ResizeDirection direction_;
  PixelFormat picture_;  // the source of the first step and the result of the second
  bool weighted_;
  int length_;  // of a row or column of the result
  ResizeTaps taps_;
  ResizeTables tables_;
};

// "800x600", "800x", "50%".
std::string to_string(const ResizeParameters& parameters) {
  if (parameters.percent) return formatted("{}%", *parameters.percent);
  const auto side = [](const std::optional<int>& pixels) {
    return pixels ? formatted("{}", *pixels) : std::string();
  };
  return side(parameters.width) + "x" + side(parameters.height);
}

class Resize final : public Stage {
 public:
  explicit Resize(const ResizeParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "resize"; }
  [[nodiscard]] std::string label() const override { return to_string(parameters_); }
  [[nodiscard]] std::string key() const override {
    return formatted("resize {} {:a} {} {} {} {} {} {}{}", to_string(parameters_),
                     parameters_.percent.value_or(0), static_cast<int>(parameters_.fit),
                     static_cast<int>(parameters_.kernel), static_cast<int>(parameters_.only),
                     static_cast<int>(parameters_.alpha), static_cast<int>(parameters_.gravity),
                     pads() ? make_frame({}, {}, parameters_.pad)->key() : "",
                     parameters_.fast_shrink ? " fast" : "") +
           (parameters_.turn_box ? " turned" : "");
  }
  [[nodiscard]] StageTraits traits() const override { return {.has_up = !parameters_.percent}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const PictureShape& input = context.shape;
    const ImageSize whole = context.smaller ? context.smaller->whole : input.size;
    if (turns_box(whole)) return with_turned_box().lower(context);
    const ImageSize scaled = scaled_size(whole);
    const ImageSize size = size_of_result(scaled);
    Lowered lowered{.steps = scaling(context, whole, scaled)};
    if (pads()) {
      lowered.steps.push_back(
          make_frame(size, placed(scaled, size, parameters_.gravity), parameters_.pad));
    } else if (size != scaled || lowered.steps.empty()) {
      lowered.steps.push_back(make_crop({size, placed(size, scaled, parameters_.gravity)}));
    }
    const bool stays = scaled == whole && size == whole;
    if (stays) lowered.placement = Placement{{}, whole, {}};
    if (parameters_.fast_shrink) lowered.decoding_divisor = divisor_for(whole, scaled);
    return lowered;
  }

 private:
  [[nodiscard]] Steps scaling(const PictureContext& context, ImageSize whole,
                              ImageSize scaled) const {
    const PictureShape& input = context.shape;
    const bool weighted = parameters_.alpha == AlphaMode::weighted && input.format.has_alpha();
    const int divisor = context.smaller ? context.smaller->divisor : 1;
    Steps steps;
    const auto add = [&](ResizeDirection direction, int from, int all, int to) {
      // If only one side changes, samples are rounded once. Products with alpha need both steps.
      if (from == to && (!weighted || scaled == input.size)) return;
      const double extent = static_cast<double>(all) / divisor;
      steps.push_back(std::make_shared<ResizeStep>(direction, input.format, weighted, from, extent,
                                                   to, parameters_.kernel));
    };
    add(ResizeDirection::rows, input.size.width, whole.width, scaled.width);
    add(ResizeDirection::columns, input.size.height, whole.height, scaled.height);
    return steps;
  }

  // The rule of libvips' thumbnails: at least half of the reduction, along each side, is left to
  // the kernel.
  [[nodiscard]] static int divisor_for(ImageSize source, ImageSize scaled) {
    int divisor = 8;
    while (divisor > 1 && (source.width < 2 * divisor * scaled.width ||
                           source.height < 2 * divisor * scaled.height))
      divisor /= 2;
    return divisor;
  }

  [[nodiscard]] bool turns_box(ImageSize source) const {
    if (!parameters_.turn_box || !parameters_.width || !parameters_.height) return false;
    const int wider = *parameters_.width - *parameters_.height;
    return source.width < source.height ? wider > 0 : source.width > source.height && wider < 0;
  }

  [[nodiscard]] Resize with_turned_box() const {
    ResizeParameters turned = parameters_;
    std::swap(turned.width, turned.height);
    turned.turn_box = false;
    return Resize(turned);
  }

  [[nodiscard]] bool crops() const {
    return parameters_.fit == ResizeFit::cover && parameters_.width && parameters_.height;
  }

  [[nodiscard]] bool pads() const {
    return parameters_.fit == ResizeFit::contain && parameters_.width && parameters_.height;
  }

  [[nodiscard]] ImageSize size_of_result(ImageSize scaled) const {
    const auto& [width, height] = std::pair(parameters_.width, parameters_.height);
    if (pads()) return {std::max(scaled.width, *width), std::max(scaled.height, *height)};
    if (crops()) return {std::min(scaled.width, *width), std::min(scaled.height, *height)};
    return scaled;
  }

  // The size before cropping or padding.
  [[nodiscard]] ImageSize scaled_size(ImageSize source) const {
    const ImageSize size = wanted_size(source);
    const bool shrinks = size.width < source.width || size.height < source.height;
    const bool enlarges = size.width > source.width || size.height > source.height;
    const bool stays = (parameters_.only == ResizeOnly::shrink && enlarges) ||
                       (parameters_.only == ResizeOnly::enlarge && shrinks);
    return stays ? source : size;
  }

  [[nodiscard]] ImageSize wanted_size(ImageSize source) const {
    const auto& [width, height, percent, fit, kernel, only, alpha, gravity, pad, fast, turns] =
        parameters_;
    if (fit == ResizeFit::fill && width && height) return {*width, *height};
    const double across = static_cast<double>(width.value_or(0)) / source.width;
    const double down = static_cast<double>(height.value_or(0)) / source.height;
    if (percent)
      return {nearest(source.width * *percent / 100), nearest(source.height * *percent / 100)};
    // The given side is exact, whatever the quotients' rounding.
    const bool by_width = width && (!height || (crops() ? across >= down : across <= down));
    if (by_width) return {*width, nearest(source.height * across)};
    return {nearest(source.width * down), *height};
  }

  static int nearest(double side) {
    constexpr double max = 1e9;  // far above what --max-pixels allows
    return static_cast<int>(std::clamp(std::floor(side + 0.5), 1.0, max));
  }

  ResizeParameters parameters_;
};

std::shared_ptr<const Stage> resize_from_options(const OptionValues& values) {
  ResizeParameters parameters{.fit = values.choice<ResizeFit>("--fit"),
                              .kernel = values.choice<ResizeKernel>("--kernel"),
                              .only = values.choice<ResizeOnly>("--only"),
                              .alpha = values.choice<AlphaMode>("--alpha"),
                              .gravity = gravity_of(values, Gravity::center),
                              .pad = pad_color_of(values),
                              .fast_shrink = values.is_set("--fast-shrink"),
                              .turn_box = values.is_set("--turn-box")};
  set_resize_size(parameters, values.text("--resize"));
  return make_resize(parameters);
}

// The table for the kernels: the number of taps, so that all sizes share a program, then the
// weights, result by result; `by_taps`: tap by tap, padded with zeros to a multiple of four taps.
std::vector<std::int32_t> weights_table(const ResizeTaps& taps, bool by_taps) {
  std::vector<std::int32_t> table{by_taps ? divided_up(taps.count, 4) * 4 : taps.count};
  if (!by_taps) {
    table.insert(table.end(), taps.weights.begin(), taps.weights.end());
    return table;
  }
  for (int k = 0; k < table.front(); ++k) {
    for (std::size_t x = 0; x < taps.first.size(); ++x)
      table.push_back(k < taps.count ? taps.weights.at(x * taps.count + k) : 0);
  }
  return table;
}

}  // namespace

RowKernel resize_kernel(bool along_rows, const PixelFormat& picture, bool weighted,
                        const ResizeTaps& taps) {
  RowKernel kernel{.file = "resize.cl", .function = along_rows ? "resize_rows" : "resize_columns"};
  kernel.macros = formatted("-D ALPHA_WEIGHTED={}", weighted ? 1 : 0);
  kernel.formats = format_macros(picture);
  kernel.pixels = along_rows || weighted ? 1 : 4;
  kernel.lines = along_rows && !weighted ? 4 : 1;
  const std::vector<std::int32_t> weights = weights_table(taps, along_rows && !weighted);
  kernel.tables = {to_bytes(taps.first), to_bytes(weights)};
  return kernel;
}

std::shared_ptr<const Stage> make_resize(const ResizeParameters& parameters) {
  return std::make_shared<Resize>(parameters);
}

StageKind resize_stage_kind() {
  return {
      .option = "--resize",
      .type = FreeText{"WxH|W|xH|N%",
                       {{"WxH", "a box of W by H pixels; see --fit"},
                        {"W", "W pixels wide, in proportion; also Wx"},
                        {"xH", "H pixels high, in proportion"},
                        {"N%", "both sides by this factor"}}},
      .help =
          "Resize. The picture keeps its proportions unless --fit says otherwise. Results for "
          "8-bit pictures without alpha equal Pillow's, except with --kernel area. As in "
          "ImageMagick, ^ after the size is --fit cover, ! is --fit fill, > is --only shrink and < "
          "is --only enlarge.",
      .parameters =
          {{.option = "--fit",
            .type = OneOf{{{"inside", ResizeFit::inside, "as large as fits in the box"},
                           {"cover", ResizeFit::cover,
                            "as small as covers the box; the rest is cropped"},
                           {"contain", ResizeFit::contain,
                            "as large as fits; the rest of the box is padded"},
                           {"fill", ResizeFit::fill, "exactly the box, stretched"}}},
            .default_value = "inside",
            .help = "How the picture fills the box."},
           {.option = "--kernel",
            .type = OneOf{{{"lanczos", ResizeKernel::lanczos, "sharp"},
                           {"cubic", ResizeKernel::cubic, "softer, with smaller halos"},
                           {"linear", ResizeKernel::linear, "soft"},
                           {"area", ResizeKernel::area, "the mean of the area that a pixel covers"},
                           {"box", ResizeKernel::box, "the mean of whole pixels, as Pillow's BOX"},
                           {"nearest", ResizeKernel::nearest, "the nearest pixel of the source"}},
                          "KERNEL"},
            .default_value = "lanczos",
            .help = "The resampling kernel."},
           {.option = "--only",
            .type = OneOf{{{"both", ResizeOnly::both, "shrink and enlarge"},
                           {"shrink", ResizeOnly::shrink, "smaller pictures stay as they are"},
                           {"enlarge", ResizeOnly::enlarge, "larger pictures stay as they are"}}},
            .default_value = "both",
            .help = "Which pictures are resized."},
           alpha_parameter(),
           gravity_parameter(),
           pad_color_parameter(),
           {.option = "--fast-shrink",
            .type = NoValue{},
            .default_value = "",
            .help =
                "A JPEG may be decoded at 1/2, 1/4 or 1/8 first. That is faster and gives slightly "
                "different pixels. At least half of the reduction is left to the kernel."},
           {.option = "--turn-box",
            .type = NoValue{},
            .default_value = "",
            .help = "Turn the box to portrait for portrait pictures and to landscape for landscape "
                    "ones: 3000x2000 then also means 2000x3000."}},
      .formula =
          "along rows, then along columns: out = (sum of weight * x + 2^21) / 2^22,\n"
          "rounded down and limited to 0..max; the kernel's weights are rounded to 22 bits",
      .edges = "Windows end at the picture's edges, and their weights are divided by their sum.",
      .alpha =
          "Colours are weighted by alpha. --alpha independent treats every channel by the formula.",
      .examples = {"in.jpg out.jpg --resize 800x600", "in.png out.png --resize 50% --kernel cubic",
                   "photos/ thumbs/ --resize 200x200 --fit cover --to jpg"},
      .sample_values = {"50%", "130%", "40x", "31x77"},
      .from_options = resize_from_options};
}

}  // namespace gpufilter
