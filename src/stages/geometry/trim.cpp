#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "image/image.hpp"
#include "stages/geometry/geometry.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Rows that are read at a time.
constexpr int portion = 64;

// The rectangle left <= x < right, top <= y < bottom; empty at first.
struct Box {
  int left = INT32_MAX;
  int top = INT32_MAX;
  int right = 0;
  int bottom = 0;

  void add(const Box& other) {
    left = std::min(left, other.left);
    top = std::min(top, other.top);
    right = std::max(right, other.right);
    bottom = std::max(bottom, other.bottom);
  }
};

template <typename Sample>
class Content {
 public:
  // `first`: the pixel that others are compared with.
  Content(const PixelFormat& format, const std::uint8_t* first, double limit)
      : channels_(static_cast<size_t>(format.channels)) {
    const auto* samples = reinterpret_cast<const Sample*>(first);
    for (size_t c = 0; c < channels_; ++c) {
      low_.at(c) = nearest_to(samples[c] - limit);
      high_.at(c) = nearest_to(samples[c] + limit);
    }
    is_transparent_ = format.has_alpha() && samples[channels_ - 1] == 0;
  }

  // Adds what differs in row `y`.
  void add_row(const std::uint8_t* bytes, int y, int width, Box& box) const {
    const auto* row = reinterpret_cast<const Sample*>(bytes);
    int first = 0;
    while (first < width && is_alike(row + static_cast<size_t>(first) * channels_))
      ++first;
    if (first == width) return;
    int end = width;
    while (is_alike(row + static_cast<size_t>(end - 1) * channels_))
      --end;
    box.add({first, y, end, y + 1});
  }

 private:
  [[nodiscard]] bool is_alike(const Sample* pixel) const {
    if (is_transparent_ && pixel[channels_ - 1] == 0) return true;
    bool alike = true;
    for (size_t c = 0; c < channels_; ++c)
      alike = alike && low_[c] <= pixel[c] && pixel[c] <= high_[c];
    return alike;
  }

  [[nodiscard]] static Sample nearest_to(double number) {
    if constexpr (std::is_same_v<Sample, float>) return static_cast<float>(number);
    return static_cast<Sample>(std::clamp<double>(number, 0, std::numeric_limits<Sample>::max()));
  }

  size_t channels_;
  bool is_transparent_ = false;
  std::array<Sample, 4> low_{};
  std::array<Sample, 4> high_{};
};

template <typename Sample>
Box box_of(const WholePicture& picture, double limit) {
  const PictureShape& shape = picture.shape();
  Image top(shape.size.width, {0, 1}, shape.format);
  picture.read(top.rows());
  const Content<Sample> content(shape.format, top.rows().data, limit);
  Box all;
  std::mutex mutex;
  const auto height = static_cast<size_t>(shape.size.height);
  run_parts(static_cast<int>(divided_up(height, portion)), [&](int part) {
    const RowRange rows{part * portion, std::min((part + 1) * portion, shape.size.height)};
    Image image(shape.size.width, rows, shape.format);
    picture.read(image.rows());
    Box box;
    for (int y = rows.begin; y < rows.end; ++y)
      content.add_row(image.rows().row(y), y, shape.size.width, box);
    const std::lock_guard lock(mutex);
    all.add(box);
  });
  return all;
}

// Needs the upright picture: the edges have the colour of the top left pixel.
class Trim final : public Stage {
 public:
  explicit Trim(double fuzz) : fuzz_(fuzz) {}

  [[nodiscard]] std::string name() const override { return "trim"; }
  [[nodiscard]] std::string label() const override {
    return fuzz_ == 0 ? "" : formatted("fuzz {}%", fuzz_);
  }
  [[nodiscard]] std::string key() const override { return formatted("trim {:a}", fuzz_); }
  [[nodiscard]] StageTraits traits() const override {
    return {.has_up = true, .keeps_picture = true, .takes_floats = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const PixelFormat& format = context.shape.format;
    if (context.kept == nullptr) {
      const auto bytes = static_cast<double>(format.bytes_per_pixel());
      return {.demand = Demand{.whole = Turn{}, .cost = {{"trim pixels", 0.3e-9, 10e-12}, bytes}}};
    }
    const double limit = fuzz_ / 100 * format.max_sample();
    return {.steps = {make_crop(
                content_of(*context.kept, format.is_float() ? limit : std::floor(limit)))}};
  }

 private:
  double fuzz_;
};

}  // namespace

CropParameters content_of(const WholePicture& picture, double limit) {
  const PixelFormat& format = picture.shape().format;
  const Box box = format.is_float()   ? box_of<float>(picture, limit)
                  : format.depth == 8 ? box_of<std::uint8_t>(picture, limit)
                                      : box_of<std::uint16_t>(picture, limit);
  if (box.right == 0) return {picture.shape().size, {0, 0}};
  return {{box.right - box.left, box.bottom - box.top}, {box.left, box.top}};
}

std::shared_ptr<const Stage> make_trim(double fuzz) {
  return std::make_shared<Trim>(fuzz);
}

StageKind trim_stage_kind() {
  return {
      .option = "--trim",
      .type = NoValue{},
      .help =
          "Cut off edges of one colour. The colour is the top left pixel's. A picture of only this "
          "colour does not change.",
      .parameters = {{.option = "--fuzz",
                      .type = NumberIn{0, 100, false, Percent::itself},
                      .default_value = "0",
                      .help =
                          "Largest difference, in percent, between colours that count as equal."}},
      .formula =
          "out(x, y) = in(X + x, Y + y)\n"
          "A pixel belongs to an edge if no sample of it differs from that of in(0, 0) by more "
          "than --fuzz percent of 255 or 65535; of floats, of 1. NaN differs from all.",
      .edges = "None: pixels are copied.",
      .alpha = "Is compared like the other samples. Fully transparent pixels are equal.",
      .examples = {"scan.png out.png --trim --fuzz 5"},
      .from_options = [](const OptionValues& values) {
        return make_trim(values.number<>("--fuzz"));
      }};
}

}  // namespace gpufilter
