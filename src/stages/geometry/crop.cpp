#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/geometry/geometry.hpp"

namespace gpufilter {
namespace {

std::string to_string(const CropParameters& crop) {
  return formatted("{}x{}+{}+{}", crop.size.width, crop.size.height, crop.corner.x, crop.corner.y);
}

const Rate copy_rate("copy pixels", 0.1e-9, 10e-12);

bool fits(int begin, int count, int all) {
  return begin >= 0 && begin <= all && count <= all - begin;
}

// `value`: the user's text.
void check_fit(const CropParameters& crop, ImageSize source, const std::string& value) {
  if (fits(crop.corner.x, crop.size.width, source.width) &&
      fits(crop.corner.y, crop.size.height, source.height))
    return;
  throw UnsuitableSize(
      formatted("--crop {} reaches beyond its {}x{} pixels", value, source.width, source.height));
}

class Crop final : public OneStepStage {
 public:
  explicit Crop(const CropParameters& crop) : crop_(crop) {}

  [[nodiscard]] std::string name() const override { return "crop"; }
  [[nodiscard]] std::string label() const override { return to_string(crop_); }
  [[nodiscard]] std::string key() const override { return "crop " + to_string(crop_); }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {copy_rate, static_cast<double>(input.bytes_per_pixel())};
  }

  [[nodiscard]] StageTraits traits() const override {
    return {.has_up = true, .takes_floats = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    Lowered lowered = OneStepStage::lower(context);
    lowered.placement = Placement{crop_.corner, crop_.size, {}};
    return lowered;
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    check_fit(crop_, input.size, to_string(crop_));
    return {crop_.size, input.format};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize /*source*/) const override {
    return target.moved(crop_.corner.y);
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = crop_.size == at.source.size, .view_of_source = crop_.corner};
  }
  [[nodiscard]] std::shared_ptr<const Step> merged_with(const Step& next) const override {
    const auto* crop = dynamic_cast<const Crop*>(&next);
    if (crop == nullptr) return nullptr;
    const PixelPosition& further = crop->crop_.corner;
    return make_crop({crop->crop_.size, {crop_.corner.x + further.x, crop_.corner.y + further.y}});
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    copy_pixels(columns_of(source, crop_.corner.x, target.width).renumbered(-crop_.corner.y),
                target);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    // The corner is a table, so that all crops of a format share a program.
    const std::vector<std::int32_t> corner{crop_.corner.x, crop_.corner.y};
    return make_row_pass(session,
                         {.file = "crop.cl",
                          .function = "crop",
                          .tables = {to_bytes(corner)},
                          .pixels = wide_pixels(input.format),
                          .variant = to_string(crop_)},
                         input, output(input));
  }

 private:
  CropParameters crop_;
};

struct CropRequest {
  Length width = {};
  Length height = {};
  PixelPosition offset = {};
  Gravity gravity = Gravity::northwest;
  bool is_ratio = false;  // width and height are those of the ratio

  // In a picture of this size.
  [[nodiscard]] ImageSize size_in(ImageSize whole) const {
    const auto side = [](const Length& length, int of_whole) {
      return length.percent ? std::clamp(length.of(of_whole), 1, of_whole) : length.of(of_whole);
    };
    if (!is_ratio) return {side(width, whole.width), side(height, whole.height)};
    const auto scaled = [](int other, double ratio, int most) {
      return static_cast<int>(std::clamp(std::floor(other * ratio + 0.5), 1.0, double(most)));
    };
    if (whole.width * height.number <= whole.height * width.number)
      return {whole.width, scaled(whole.width, height.number / width.number, whole.height)};
    return {scaled(whole.height, width.number / height.number, whole.width), whole.height};
  }
};

// A crop whose position depends on the picture.
class PlacedCrop final : public Stage {
 public:
  PlacedCrop(const CropRequest& request, std::string value)
      : request_(request), value_(std::move(value)) {}

  [[nodiscard]] std::string name() const override { return "crop"; }
  [[nodiscard]] std::string label() const override { return value_; }
  [[nodiscard]] std::string key() const override {
    return formatted("crop {} {} {:a} {:a}", value_, static_cast<int>(request_.gravity),
                     request_.width.number, request_.height.number);
  }
  [[nodiscard]] StageTraits traits() const override {
    return {.has_up = true, .takes_floats = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const ImageSize& source = context.shape.size;
    const ImageSize size = request_.size_in(source);
    const PixelPosition corner = placed(size, source, request_.gravity, request_.offset);
    check_fit({size, corner}, source, value_);
    return {.steps = {make_crop({size, corner})}, .placement = Placement{corner, size, {}}};
  }

 private:
  CropRequest request_;
  std::string value_;
};

// Takes the digits at the beginning of `text`, with `more` characters; empty if there are none.
std::string take_digits(std::string_view& text, std::string_view more) {
  const std::string_view all = "0123456789";
  std::size_t end = 0;
  while (end < text.size() && (all.find(text[end]) != std::string_view::npos ||
                               more.find(text[end]) != std::string_view::npos))
    ++end;
  std::string digits(text.substr(0, end));
  text.remove_prefix(end);
  return digits;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

// A whole number of pixels, or a percentage.
std::optional<Length> take_side(std::string_view& text) {
  std::string_view rest = text;
  const std::string whole = take_digits(rest, "");
  Length side;
  if (!whole.empty() && !rest.starts_with('%') && !rest.starts_with('.')) {
    side.number = parse_number("--crop", whole);
  } else {
    rest = text;
    const std::string digits = take_digits(rest, ".");
    if (digits.empty() || !take(rest, '%')) return std::nullopt;
    side = {parse_number("--crop", digits), true};
  }
  constexpr double max = 1e9;
  if (side.number > (side.percent ? 100 : max)) return std::nullopt;
  text = rest;
  return side;
}

// "3:2", "1.91:1".
std::optional<CropRequest> parse_ratio(std::string_view text) {
  CropRequest request{.is_ratio = true};
  const std::string width = take_digits(text, ".");
  if (width.empty() || !take(text, ':')) return std::nullopt;
  const std::string height = take_digits(text, ".");
  if (height.empty() || !text.empty()) return std::nullopt;
  request.width.number = parse_number("--crop", width);
  request.height.number = parse_number("--crop", height);
  constexpr double most = 1e6;
  if (std::max(request.width.number, request.height.number) > most) return std::nullopt;
  return request;
}

// "640x480+10+20", "50%x100", "50%"; `has_offset` says whether there is one.
std::optional<CropRequest> parse_crop(std::string_view text, bool& has_offset) {
  if (const auto ratio = parse_ratio(text)) return ratio;
  const auto width = take_side(text);
  if (!width) return std::nullopt;
  CropRequest request{*width, *width, {}};
  if (take(text, 'x')) {
    const auto height = take_side(text);
    if (!height) return std::nullopt;
    request.height = *height;
  } else if (!width->percent) {
    return std::nullopt;
  }
  has_offset = !text.empty();
  if (!has_offset) return request;
  for (int* const number : {&request.offset.x, &request.offset.y}) {
    if (!take(text, '+')) return std::nullopt;
    const std::string digits = take_digits(text, "");
    constexpr std::size_t maximum_digits = 9;
    if (digits.empty() || digits.size() > maximum_digits) return std::nullopt;
    *number = std::stoi(digits);
  }
  return text.empty() ? std::optional(request) : std::nullopt;
}

std::shared_ptr<const Stage> crop_from_options(const OptionValues& values) {
  const std::string& value = values.text("--crop");
  bool has_offset = false;
  auto request = parse_crop(value, has_offset);
  if (!request) {
    throw UsageError(
        formatted("--crop {}: write WIDTHxHEIGHT+X+Y or WIDTHxHEIGHT in whole pixels or percent, "
                  "such as 640x480+10+20 or 50%, or a ratio such as 3:2",
                  printable(value)));
  }
  if (request->width.number == 0 || request->height.number == 0) {
    throw UsageError(formatted("--crop {}: WIDTH and HEIGHT must be above 0", printable(value)));
  }
  request->gravity = gravity_of(values, has_offset ? Gravity::northwest : Gravity::center);
  if (request->gravity == Gravity::northwest && !request->width.percent &&
      !request->height.percent && !request->is_ratio)
    return make_crop({request->size_in({}), request->offset});
  return std::make_shared<PlacedCrop>(*request, value);
}

}  // namespace

std::shared_ptr<const OneStepStage> make_crop(const CropParameters& parameters) {
  return std::make_shared<Crop>(parameters);
}

StageKind crop_stage_kind() {
  return {
      .option = "--crop",
      .type = FreeText{"WxH+X+Y|WxH|N%|W:H",
                       {{"WxH+X+Y",
                         "W pixels wide and H high, from column X and row Y on; the top left "
                         "pixel of the picture is +0+0"},
                        {"WxH", "centred, or placed by --gravity"},
                        {"N%", "a percentage of both sides; W and H may be percentages, too"},
                        {"W:H", "the largest rectangle with this ratio of its sides: 3:2"}}},
      .help =
          "Cut out a rectangle. It has to lie within the picture: a picture that is too small "
          "fails before any work is done.",
      .parameters = {gravity_parameter()},
      .formula =
          "out(x, y) = in(X + x, Y + y)\n"
          "X and Y count from the left and the top; with --gravity, inwards from its "
          "edges, or from the middle",
      .edges = "None: pixels are copied.",
      .alpha = "Is copied like the colours.",
      .examples = {"in.jpg out.png --crop 40x30+20+10",
                   "in.jpg out.jpg --crop 80%x100% --gravity south", "in.jpg out.jpg --crop 3:2"},
      .sample_values = {"61x13+5+3", "1x1+0+0", "50%", "33x70%+0+2", "16:9"},
      .from_options = crop_from_options};
}

}  // namespace gpufilter
