#include "stages/point/lookup.hpp"

#include <array>
#include <mutex>

#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/point/lookup_rows.hpp"

namespace gpufilter {
namespace {

// A table for each depth, made when first requested. Thread-safe.
template <typename Entry>
class Tables {
 public:
  using Make = std::function<std::vector<Entry>(const PixelFormat&)>;
  explicit Tables(Make make) : make_(std::move(make)) {}

  [[nodiscard]] const std::vector<Entry>& of(const PixelFormat& format) const {
    Slot& slot = slots_.at(format.depth == 8 ? 0 : 1);
    std::call_once(slot.made, [&] { slot.table = make_(format); });
    return slot.table;
  }

 private:
  struct Slot {
    std::once_flag made;
    std::vector<Entry> table;
  };
  Make make_;
  mutable std::array<Slot, 2> slots_;
};

// The bytes of a table as the kernel reads it: samples have the picture's depth.
std::vector<std::uint8_t> table_bytes(const std::vector<std::uint16_t>& table,
                                      const PixelFormat& format) {
  if (format.depth == 8) return {table.begin(), table.end()};
  return to_bytes(std::span(table));
}

std::vector<std::uint8_t> table_bytes(const std::vector<float>& table, const PixelFormat&) {
  return to_bytes(std::span(table));
}

// Alpha does not change, here and below.
std::string with_alpha(std::string loop, const PixelFormat& format) {
  if (format.has_alpha()) loop += "    " + copy_alpha(format, format.channels - 1);
  return loop + "  }\n";
}

std::string look_up_source(const PixelFormat& format) {
  std::string loop = "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n";
  for (int c = 0; c < format.color_channels(); ++c)
    loop += formatted("    SET_SAMPLE(out[i], {0}, table[SAMPLE(in[i], {0})]);\n", c);
  return with_alpha(std::move(loop), format);
}

// Grey is its own luma.
std::string scale_source(const PixelFormat& format) {
  std::string loop = "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n";
  loop += format.color_channels() == 1
              ? "    const float factor = table[SAMPLE(in[i], 0)];\n"
              : "    const float factor = table[LUMA_BT709(SAMPLE(in[i], 0), "
                "SAMPLE(in[i], 1), SAMPLE(in[i], 2))];\n";
  for (int c = 0; c < format.color_channels(); ++c)
    loop += formatted("    SET_NUMBER(out[i], {0}, NUMBER(in[i], {0}) * factor);\n", c);
  return with_alpha(std::move(loop), format);
}

template <typename Entry>
class LookupStage : public OneStepStage {
 public:
  // `source` writes the pixel function, whose table has an entry for each sample or luma.
  using Source = std::string (*)(const PixelFormat&);
  using Warning = std::function<std::string(const PixelFormat&)>;
  using Cost = StageCost (*)(const PixelFormat&);
  LookupStage(std::string name, std::string variant, Cost cost_of, Source source,
              typename Tables<Entry>::Make make, Warning warning)
      : name_(std::move(name)),
        variant_(std::move(variant)),
        cost_(cost_of),
        source_(source),
        make_(std::move(make)),
        tables_(make_),
        warning_(std::move(warning)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return variant_; }
  [[nodiscard]] std::string key() const override { return name_ + " " + variant_; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    Lowered lowered = OneStepStage::lower(context);
    if (warning_) lowered.warning = warning_(context.shape.format);
    return lowered;
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override { return cost_(input); }
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    return {.runs_in_place = true};
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    return PixelFunction{.body = source_(input),
                         .table_entry = std::is_same_v<Entry, float> ? "float" : "sample_t",
                         .table = table_bytes(tables_.of(input), input)};
  }

  // Two tables of samples are one: each sample's entry of the first, looked up in the second.
  [[nodiscard]] std::shared_ptr<const Step> merged_with(const Step& next) const override {
    if constexpr (std::is_same_v<Entry, std::uint16_t>) {
      const auto* other = dynamic_cast<const LookupStage*>(&next);
      if (other == nullptr) return nullptr;
      return make_lookup({name_ == other->name_ ? name_ : name_ + " + " + other->name_,
                          variant_ + "; " + other->variant_,
                          [make_first = make_, make_second = other->make_](const PixelFormat& of) {
                            std::vector<Entry> table = make_first(of);
                            const std::vector<Entry> second = make_second(of);
                            for (Entry& entry : table)
                              entry = second[entry];
                            return table;
                          }});
    }
    return nullptr;
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    lookup_rows(source, target, tables_.of(source.format).data());
  }

 private:
  std::string name_;
  std::string variant_;
  Cost cost_;
  Source source_;
  typename Tables<Entry>::Make make_;
  Tables<Entry> tables_;
  Warning warning_;
};

}  // namespace

StageCost lookup_cost(const PixelFormat& input) {
  const Rate rate = input.depth == 16 ? Rate("look_up_samples 16", 0.8e-9, 12e-12)
                                      : Rate("look_up_samples 8", 0.5e-9, 8e-12);
  return {rate, static_cast<double>(input.channels)};
}

StageCost luma_scaling_cost(const PixelFormat& input) {
  const Rate rate = input.depth == 16 ? Rate("scale_by_luma 16", 2e-9, 15e-12)
                                      : Rate("scale_by_luma 8", 1.5e-9, 10e-12);
  return {rate, static_cast<double>(input.channels)};
}

std::shared_ptr<const OneStepStage> make_lookup(SampleLookup lookup) {
  return std::make_shared<LookupStage<std::uint16_t>>(
      std::move(lookup.stage), std::move(lookup.variant), lookup_cost, look_up_source,
      std::move(lookup.make_table), std::move(lookup.warning));
}

std::shared_ptr<const OneStepStage> make_luma_scaling(LumaScaling scaling) {
  return std::make_shared<LookupStage<float>>(std::move(scaling.stage), std::move(scaling.variant),
                                              luma_scaling_cost, scale_source,
                                              std::move(scaling.make_factors), nullptr);
}

}  // namespace gpufilter
