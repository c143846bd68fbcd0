// --channel and --swap: one channel as a picture, colours in another order.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "base/format.hpp"
#include "image/float_samples.hpp"
#include "stage/point_rows.hpp"
#include "stages/colour/color.hpp"
#include "stages/expression/pixel.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

enum class Channel { red, green, blue, alpha, luma };

// Where a pixel of this format has it; nothing for the alpha of an opaque picture.
std::optional<size_t> place_of(Channel channel, const PixelFormat& format) {
  const auto last = static_cast<size_t>(format.channels) - 1;
  if (channel == Channel::alpha) return format.has_alpha() ? std::optional(last) : std::nullopt;
  return format.color_channels() == 1 ? 0 : static_cast<size_t>(channel);
}

// A grey picture without alpha. Of luma, the source is grey.
class PickChannel final : public Step {
 public:
  explicit PickChannel(Channel channel) : channel_(channel) {}

  [[nodiscard]] StepTitle title() const override { return {"channel"}; }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, {1, input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("channel {}x{}", input.channels, input.depth), 0.2e-9, 8e-12}, 1};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    for_words(source.format, [&]<typename Sample>(Sample) { pick<Sample>(source, target); });
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    const auto place = place_of(channel_, input);
    return PixelFunction{
        .body = for_each_pixel(place ? formatted("    COPY_SAMPLE(out[i], 0, in[i], {});\n", *place)
                                     : "    SET_SAMPLE(out[i], 0, MAX_SAMPLE);\n")};
  }

 private:
  template <typename Sample>
  void pick(const ConstRows& source, const MutableRows& target) const {
    const auto width = static_cast<size_t>(source.width);
    const auto channels = static_cast<size_t>(source.format.channels);
    const auto place = place_of(channel_, source.format);
    for_rows<Sample>(source, target, [=](const Sample* in, Sample* out) {
      if (!place) {
        std::fill_n(out, width, white_word<Sample>);
        return;
      }
      for (size_t x = 0; x < width; ++x)
        out[x] = in[channels * x + *place];
    });
  }

  Channel channel_;
};

class ChannelStage final : public Stage {
 public:
  ChannelStage(Channel channel, std::string label) : channel_(channel), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return "channel"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override { return "channel " + label_; }
  [[nodiscard]] StageTraits traits() const override { return {.takes_floats = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (channel_ != Channel::luma) return {.steps = {std::make_shared<PickChannel>(channel_)}};
    Lowered lowered = make_gray()->lower(context);
    if (context.shape.format.has_alpha())
      lowered.steps.push_back(std::make_shared<PickChannel>(Channel::luma));
    return lowered;
  }

 private:
  Channel channel_;
  std::string label_;
};

class Swap final : public Stage {
 public:
  explicit Swap(std::string order) : order_(std::move(order)) {}

  [[nodiscard]] std::string name() const override { return "swap"; }
  [[nodiscard]] std::string label() const override { return order_; }
  [[nodiscard]] std::string key() const override { return "swap " + order_; }
  [[nodiscard]] StageTraits traits() const override { return {.takes_floats = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (context.shape.format.color_channels() == 1) return {};
    if (context.shape.format.is_float()) {
      // A matrix would multiply infinite samples by 0.
      std::string text = "x = r; y = g; z = b";
      for (size_t c = 0; c < 3; ++c)
        text += formatted("; {} = {}", "rgb"[c], "xyz"[std::string_view("rgb").find(order_.at(c))]);
      return {.steps = {make_pixel("swap", order_, std::move(text))}};
    }
    MatrixRows rows(3, std::vector<double>(3));
    for (size_t c = 0; c < 3; ++c)
      rows[c].at(std::string_view("rgb").find(order_.at(c))) = 1;
    return make_color(to_matrix(rows), order_, "swap")->lower(context);
  }

 private:
  std::string order_;
};

}  // namespace

StageKind channel_stage_kind() {
  return {
      .option = "--channel",
      .type = OneOf{{{"r", Channel::red, "red"},
                     {"g", Channel::green, "green"},
                     {"b", Channel::blue, "blue"},
                     {"a", Channel::alpha, "alpha"},
                     {"luma", Channel::luma, "as --gray computes it"}}},
      .help = "Keep one channel as a grey picture. It has no alpha.",
      .formula =
          "out = the channel's sample; luma = (2126 * red + 7152 * green + 722 * blue + 5000) / "
          "10000, rounded down\n"
          "Grey counts as equal red, green and blue.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Is removed. --channel a makes it the picture, white where there is none.",
      .examples = {"in.png out.png --channel r"},
      .from_options = [](const OptionValues& values) {
        constexpr std::array words{"r", "g", "b", "a", "luma"};
        const auto channel = values.choice<Channel>("--channel");
        return std::make_shared<ChannelStage>(channel, words.at(static_cast<size_t>(channel)));
      }};
}

StageKind swap_stage_kind() {
  return {
      .option = "--swap",
      .type = OneOf{{{"bgr", 0, "red and blue exchanged"},
                     {"rbg", 1, "green and blue exchanged"},
                     {"grb", 2, "red and green exchanged"},
                     {"gbr", 3, "red from green, green from blue, blue from red"},
                     {"brg", 4, "red from blue, green from red, blue from green"}}},
      .help = "Put the colours in another order. The value says where each comes from.",
      .formula = "out red, green, blue = the samples that the letters name",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence. Grey pictures do not change.",
      .examples = {"in.png out.png --swap bgr"},
      .from_options = [](const OptionValues& values) {
        constexpr std::array orders{"bgr", "rbg", "grb", "gbr", "brg"};
        return std::make_shared<Swap>(orders.at(static_cast<size_t>(values.choice<int>("--swap"))));
      }};
}

}  // namespace gpufilter
