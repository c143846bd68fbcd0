#include "stages/colour/linear.hpp"

#include <cmath>
#include <cstddef>
#include <deque>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

double largest(int bits) {
  return (1 << bits) - 1;
}

// The light of a sample of `bits` bits, which need not be a whole number.
double light_at(const TransferCurve& curve, double sample, int bits, int light_depth = light_bits) {
  return largest(light_depth) * light_of(curve, sample / largest(bits));
}

LightTable make_linear_table(const TransferCurve& curve, int bits) {
  LightTable table(size_t{1} << static_cast<unsigned>(bits));
  for (size_t i = 0; i < table.size(); ++i) {
    const double light = light_at(curve, static_cast<double>(i), bits);
    table[i] = static_cast<std::uint16_t>(std::nearbyint(light));
    if (bits != 8 || i == 0 || table[i] > table[i - 1]) continue;
    const int next = table[i - 1] + 1;
    if (next - light <= 1) table[i] = static_cast<std::uint16_t>(next);
  }
  return table;
}

// A sample ends where the light half way to the next one does, so only these are computed.
LightTable make_encoded_table(const TransferCurve& curve, int light_depth, int bits) {
  LightTable table(size_t{1} << static_cast<unsigned>(light_depth));
  const double last = largest(bits);
  double sample = 0;
  double end = light_at(curve, 0.5, bits, light_depth);
  for (size_t light = 0; light < table.size(); ++light) {
    while (sample < last && end < static_cast<double>(light)) {
      ++sample;
      end = light_at(curve, sample + 0.5, bits, light_depth);
    }
    table[light] = static_cast<std::uint16_t>(sample);
  }
  if (light_depth != light_bits || bits != 8) return table;
  const LightTable lights = make_linear_table(curve, bits);
  for (size_t i = 1; i < lights.size(); ++i) {
    const bool is_own = lights[i] > lights[i - 1];
    const auto own = static_cast<double>(i);
    const bool is_near = light_at(curve, own - 1, bits) <= lights[i] &&
                         (own == last || lights[i] <= light_at(curve, own + 1, bits));
    if (is_own && is_near) table[lights[i]] = static_cast<std::uint16_t>(i);
  }
  return table;
}

// The most recently made tables: the pictures of a folder have few curves. Thread-safe.
class KeptTables {
 public:
  // `light_depth` is 0 for tables to light.
  std::shared_ptr<const LightTable> get(const TransferCurve& curve, int light_depth, int bits) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, table] : kept_) {
      if (known == Key{curve, light_depth, bits}) return table;
    }
    auto table = std::make_shared<const LightTable>(
        light_depth == 0 ? make_linear_table(curve, bits)
                         : make_encoded_table(curve, light_depth, bits));
    kept_.emplace_front(Key{curve, light_depth, bits}, table);
    if (kept_.size() > maximum) kept_.pop_back();
    return table;
  }

 private:
  static constexpr size_t maximum = 12;  // 128 KiB each
  using Key = std::tuple<TransferCurve, int, int>;

  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_ptr<const LightTable>>> kept_;
};

LightTables tables_of(const LightCurves& curves, int light_depth, int bits) {
  static KeptTables kept;
  LightTables tables;
  for (size_t c = 0; c < tables.size(); ++c)
    tables.at(c) = kept.get(curves.colors.at(c), light_depth, bits);
  return tables;
}

}  // namespace

LightTables linear_tables(const LightCurves& curves, int bits) {
  return tables_of(curves, 0, bits);
}

LightTables encoded_tables(const LightCurves& curves, int light_depth, int bits) {
  return tables_of(curves, light_depth, bits);
}

namespace {

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
  const auto* const red = tables[0]->data();
  const auto* const green = tables[1]->data();
  const auto* const blue = tables[2]->data();
  for_rows<From, To>(
      source, target, [=](const From* in, To* out) __attribute__((always_inline)) {
        if (grey) {
          const auto channels = static_cast<size_t>(format.channels);
          for (size_t i = 0; i < channels * static_cast<size_t>(source.width); i += channels) {
            out[i] = static_cast<To>(green[in[i]]);
            if (channels == 2) out[i + 1] = converted_alpha<From, To>(in[i + 1]);
          }
          return;
        }
        for (int x = 0; x < source.width; ++x, in += format.channels, out += format.channels) {
          out[0] = static_cast<To>(red[in[0]]);
          out[1] = static_cast<To>(green[in[1]]);
          out[2] = static_cast<To>(blue[in[2]]);
          if (format.has_alpha()) out[3] = converted_alpha<From, To>(in[3]);
        }
      });
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
    lowered.warning = curves.warning;
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

  // Source and result may have different sample types, so the step is never fused.
  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const LightTables tables = tables_for(input.format);
    RowKernel kernel{.file = "depth.cl",
                     .function = "change_light",
                     .macros = formatted("-D TARGET_DEPTH={}", bits_),
                     .variant = label()};
    for (const auto& table : tables)
      kernel.tables.push_back(to_bytes(*table));
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
    "The curve is the picture's own: from code points (PNG cICP), its ICC profile, sRGB or gamma "
    "(PNG sRGB, gAMA). If there is none, or the profile is made of tables, it is sRGB's:\n"
    "light = x / 12.92 up to x = 0.04045, ((x + 0.055) / 1.055)^2.4 above, x from 0 to 1";

}  // namespace

std::shared_ptr<const Stage> make_linear(const LightCurves& curves) {
  return std::make_shared<Light>(LightDirection::to_light, curves, light_bits);
}

std::shared_ptr<const Stage> make_encoded(const LightCurves& curves, int bits) {
  return std::make_shared<Light>(LightDirection::to_samples, curves, bits);
}

StageKind linear_stage_kind() {
  return {.option = "--linear",
          .type = NoValue{},
          .help =
              "Work in linear light. For the stages up to --encoded, or up to the end, samples "
              "have 16 bits and are proportional to light, so that blurs and resizing mix colours "
              "as lenses do.",
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
    if (in_light && stage->traits().needs_encoded) {
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
