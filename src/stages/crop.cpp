#include "stages/crop.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_constants.hpp"
#include "stages/row_pass.hpp"

namespace gpufilter {
namespace {

std::string to_string(const CropParameters& crop) {
  return formatted("{}x{}+{}+{}", crop.size.width, crop.size.height, crop.corner.x, crop.corner.y);
}

bool fits(int begin, int count, int all) {
  return begin <= all && count <= all - begin;
}

class Crop final : public Stage {
 public:
  explicit Crop(const CropParameters& crop) : crop_(crop) {}

  [[nodiscard]] std::string name() const override { return "crop"; }
  [[nodiscard]] std::string label() const override { return to_string(crop_); }
  [[nodiscard]] std::string key() const override { return "crop " + to_string(crop_); }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{"copy pixels", 0.1e-9, 10e-12}, static_cast<double>(input.bytes_per_pixel())};
  }

  [[nodiscard]] ImageSize output_size(ImageSize source) const override {
    if (!fits(crop_.corner.x, crop_.size.width, source.width) ||
        !fits(crop_.corner.y, crop_.size.height, source.height)) {
      throw UnsuitableSize(formatted("--crop {} reaches beyond its {}x{} pixels", to_string(crop_),
                                     source.width, source.height));
    }
    return crop_.size;
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize /*source*/) const override {
    return target.moved(crop_.corner.y);
  }
  [[nodiscard]] bool changes_nothing(const PictureShape& input) const override {
    return crop_.size == input.size;
  }
  [[nodiscard]] std::optional<PixelPosition> view_of_source() const override {
    return crop_.corner;
  }

  [[nodiscard]] std::shared_ptr<const Stage> merged_with(const Stage& next) const override {
    const auto* crop = dynamic_cast<const Crop*>(&next);
    if (crop == nullptr) return nullptr;
    const PixelPosition& further = crop->crop_.corner;
    return make_crop({crop->crop_.size, {crop_.corner.x + further.x, crop_.corner.y + further.y}});
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    const ConstRows part = columns_of(source, crop_.corner.x, target.width);
    const std::size_t bytes =
        static_cast<std::size_t>(target.width) * target.format.bytes_per_pixel();
    for (int y = target.rows.begin; y < target.rows.end; ++y)
      std::memcpy(target.row(y), part.row(y + crop_.corner.y), bytes);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    // The corner is a table, so that all crops of a format share a program.
    const std::vector<std::int32_t> corner{crop_.corner.x, crop_.corner.y};
    return make_row_pass(session,
                         {.file = "crop.cl",
                          .function = "crop",
                          .tables = {to_bytes(std::span<const std::int32_t>(corner))},
                          .variant = to_string(crop_)},
                         input, output(input));
  }

 private:
  CropParameters crop_;
};

// Takes the digits at the beginning of `text`; nothing if there are none or they are too large.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "640x480+10+20": four numbers, each but the last followed by its separator.
std::optional<CropParameters> parse_crop(std::string_view text) {
  std::array<int, 4> numbers{};
  constexpr std::string_view separators = "x++";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    numbers.at(i) = *number;
    if (i == separators.size()) break;
    if (!text.starts_with(separators[i])) return std::nullopt;
    text.remove_prefix(1);
  }
  if (!text.empty()) return std::nullopt;
  return CropParameters{{numbers[0], numbers[1]}, {numbers[2], numbers[3]}};
}

std::shared_ptr<const Stage> crop_from_options(const OptionValues& values) {
  const std::string& value = values.text("--crop");
  const auto crop = parse_crop(value);
  if (!crop) {
    throw UsageError(
        formatted("--crop {}: write WIDTHxHEIGHT+X+Y in whole pixels, such as "
                  "640x480+10+20",
                  printable(value)));
  }
  if (crop->size.width == 0 || crop->size.height == 0) {
    throw UsageError(formatted("--crop {}: WIDTH and HEIGHT must be at least 1", printable(value)));
  }
  return make_crop(*crop);
}

}  // namespace

std::shared_ptr<const Stage> make_crop(const CropParameters& parameters) {
  return std::make_shared<Crop>(parameters);
}

StageKind crop_stage_kind() {
  return {.option = "--crop",
          .type = FreeText{"WxH+X+Y",
                           {{"WxH+X+Y",
                             "W pixels wide and H high, from column X and row Y on; the top left "
                             "pixel of the picture is +0+0"}}},
          .help =
              "Cut out a rectangle. It has to lie within the picture: a picture that is too small "
              "fails before any work is done.",
          .formula = "out(x, y) = in(X + x, Y + y)",
          .edges = "None: pixels are copied.",
          .alpha = "Is copied like the colours.",
          .examples = {"in.jpg out.png --crop 40x30+20+10",
                       "in.png out.png --blur auto --crop 64x32+0+0"},
          .sample_values = {"61x13+5+3", "1x1+0+0"},
          .from_options = crop_from_options};
}

}  // namespace gpufilter
