#include "stages/colour/linear.hpp"

#include <span>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/device/row_pass.hpp"
#include "stages/point/light_tables.hpp"

namespace gpufilter {
namespace {

using std::size_t;

enum class LightDirection { to_light, to_samples };

template <typename From, typename To>
To converted_alpha(From alpha) {
  if constexpr (sizeof(From) == sizeof(To)) return alpha;
  if constexpr (sizeof(From) < sizeof(To)) return static_cast<To>(alpha * 257);
  if constexpr (sizeof(From) > sizeof(To)) return narrow_sample(alpha);
}

template <typename From, typename To>
void look_up(const ConstRows& source, const MutableRows& target, const LightTables& tables) {
  const PixelFormat& format = source.format;
  const bool grey = format.color_channels() == 1;
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    const auto* in = reinterpret_cast<const From*>(source.row(y));
    auto* out = reinterpret_cast<To*>(target.row(y));
    const std::uint16_t* green = tables[1]->data();
    if (grey) {
      const auto channels = static_cast<size_t>(format.channels);
      for (size_t i = 0; i < channels * static_cast<size_t>(source.width); i += channels) {
        out[i] = static_cast<To>(green[in[i]]);
        if (channels == 2) out[i + 1] = converted_alpha<From, To>(in[i + 1]);
      }
      continue;
    }
    const std::uint16_t* red = tables[0]->data();
    const std::uint16_t* blue = tables[2]->data();
    for (int x = 0; x < source.width; ++x, in += format.channels, out += format.channels) {
      out[0] = static_cast<To>(red[in[0]]);
      out[1] = static_cast<To>(green[in[1]]);
      out[2] = static_cast<To>(blue[in[2]]);
      if (format.has_alpha()) out[3] = converted_alpha<From, To>(in[3]);
    }
  }
}

class Light final : public OneStepStage {
 public:
  // Results have `bits` bits.
  Light(LightDirection direction, LightCurves curves, int bits)
      : direction_(direction), curves_(std::move(curves)), bits_(bits) {}

  [[nodiscard]] LightDirection direction() const { return direction_; }

  [[nodiscard]] std::string name() const override {
    return direction_ == LightDirection::to_light ? "linear" : "encoded";
  }
  [[nodiscard]] std::string label() const override { return curves_.name; }
  // The curves are the picture's, so they are no part of what was requested.
  [[nodiscard]] std::string key() const override { return name(); }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, {input.format.channels, bits_}};
  }
  [[nodiscard]] StageTraits traits() const override { return {.reads_metadata = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (!context.metadata) return OneStepStage::lower(context);
    const LightCurves curves = light_curves(*context.metadata);
    const bool begins = direction_ == LightDirection::to_light;
    const auto step =
        std::make_shared<Light>(direction_, curves, begins ? light_bits : context.depth_outside);
    Lowered lowered{.steps = {step}, .title = step->title()};
    if (!begins) return lowered;
    lowered.warning = curves.doubt;
    lowered.depth_outside = context.shape.format.depth;
    return lowered;
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {Rate("light", 0.6e-9, 15e-12), static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    const LightTables tables = tables_for(source.format);
    const bool narrow = bits_ == 8;
    if (source.format.depth == 8) {
      narrow ? look_up<std::uint8_t, std::uint8_t>(source, target, tables)
             : look_up<std::uint8_t, std::uint16_t>(source, target, tables);
    } else {
      narrow ? look_up<std::uint16_t, std::uint8_t>(source, target, tables)
             : look_up<std::uint16_t, std::uint16_t>(source, target, tables);
    }
  }

  // Its source and its result may have other sample types, so it shares no kernel with other
  // stages.
  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const LightTables tables = tables_for(input.format);
    RowKernel kernel{.file = "light.cl",
                     .function = "change_light",
                     .macros = formatted("-D TARGET_DEPTH={}", bits_),
                     .variant = label()};
    for (const auto& table : tables)
      kernel.tables.push_back(to_bytes(std::span<const std::uint16_t>(*table)));
    return make_row_pass(session, std::move(kernel), input, output(input));
  }

 private:
  [[nodiscard]] LightTables tables_for(const PixelFormat& source) const {
    return direction_ == LightDirection::to_light ? linear_tables(curves_, source.depth)
                                                  : encoded_tables(curves_, source.depth, bits_);
  }

  LightDirection direction_;
  LightCurves curves_;
  int bits_;
};

const Light* as_light(const std::shared_ptr<const Stage>& stage) {
  return dynamic_cast<const Light*>(stage.get());
}

constexpr const char* table_formula =
    "The curve is the picture's own: from coding points (PNG cICP), its ICC profile, sRGB or gamma "
    "(PNG sRGB, gAMA). If there is none, or the profile is made of tables, it is that of sRGB:\n"
    "light = x / 12.92 up to x = 0.04045, ((x + 0.055) / 1.055)^2.4 above, x from 0 to 1";

}  // namespace

std::shared_ptr<const Stage> make_linear(const LightCurves& curves) {
  return std::make_shared<Light>(LightDirection::to_light, curves, light_bits);
}

std::shared_ptr<const Stage> make_encoded(const LightCurves& curves, int bits) {
  return std::make_shared<Light>(LightDirection::to_samples, curves, bits);
}

StageKind linear_stage_kind() {
  return {
      .option = "--linear",
      .type = NoValue{},
      .help =
          "Work in linear light. For the stages up to --encoded, or up to the end, samples have "
          "16 bits and are in proportion to light, so that blurs and resizing mix colours as "
          "lenses do.",
      .formula = table_formula,
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Is converted to 16 bits.",
      .examples = {"in.jpg out.jpg --linear --resize 50% --encoded",
                   "in.jpg out.jpg --linear --gaussian 8"},
      .from_options = [](const OptionValues&) { return make_linear({}); }};
}

StageKind encoded_stage_kind() {
  return {.option = "--encoded",
          .type = NoValue{},
          .help =
              "End --linear. Light becomes samples again, by the same curve, with as many bits as "
              "before --linear.",
          .formula = table_formula,
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Is converted back.",
          .examples = {"in.jpg out.jpg --linear --resize 50% --encoded --sharpen 0.5"},
          .from_options = [](const OptionValues&) { return make_encoded({}, 8); }};
}

StageChain with_light_ends(StageChain chain) {
  bool in_light = false;
  for (const auto& stage : chain) {
    if (in_light && stage->traits().sets_profile) {
      throw UsageError(formatted(
          "--{}: the stages here work in linear light; put it before --linear or after --encoded",
          stage->name()));
    }
    const Light* light = as_light(stage);
    if (light == nullptr) continue;
    const bool begins = light->direction() == LightDirection::to_light;
    if (begins == in_light) {
      throw UsageError(
          begins ? "--linear: the stages here already work in linear light; put --encoded before it"
                 : "--encoded: there is no --linear before it to end");
    }
    in_light = begins;
  }
  if (in_light) chain.push_back(make_encoded({}, 8));
  return chain;
}

}  // namespace gpufilter
