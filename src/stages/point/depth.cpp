#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/format.hpp"
#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

template <typename To, typename From>
[[gnu::always_inline]] inline To converted(From sample) {
  if constexpr (std::is_same_v<To, float>) {
    return float_of_sample(sample, std::numeric_limits<From>::max());
  } else if constexpr (std::is_same_v<From, float>) {
    return static_cast<To>(sample_of_float<To>(sample));
  } else if constexpr (sizeof(To) == 1) {
    return narrow_sample(sample);
  } else {
    return static_cast<To>(sample * 257);
  }
}

template <typename From, typename To>
struct Convert {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows* source, const MutableRows* target) {
    const auto samples =
        static_cast<std::size_t>(source->width) * static_cast<std::size_t>(source->format.channels);
    for_rows<From, To>(
        *source, *target, [&](const From* in, To* out) __attribute__((always_inline)) {
          for (std::size_t i = 0; i < samples; ++i)
            out[i] = converted<To>(in[i]);
        });
  }
};

class Depth final : public OneStepStage {
 public:
  explicit Depth(int bits) : bits_(bits) {}

  [[nodiscard]] std::string name() const override { return "depth"; }
  [[nodiscard]] std::string label() const override {
    return bits_ == float_depth ? "float" : formatted("{}", bits_);
  }
  [[nodiscard]] std::string key() const override { return "depth " + label(); }
  [[nodiscard]] StageTraits traits() const override {
    return {.takes_floats = true, .reads_floats = bits_ == float_depth};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, {input.format.channels, bits_}};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = at.source.format.depth == bits_};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{"depth", 0.1e-9, 5e-12}, static_cast<double>(input.channels)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    if (source.format.depth == bits_) return copy_pixels(source, target);
    if (bits_ == 8) {
      source.format.is_float() ? run_loop<Convert<float, std::uint8_t>>(&source, &target)
                               : run_loop<Convert<std::uint16_t, std::uint8_t>>(&source, &target);
    } else if (bits_ == 16) {
      source.format.is_float() ? run_loop<Convert<float, std::uint16_t>>(&source, &target)
                               : run_loop<Convert<std::uint8_t, std::uint16_t>>(&source, &target);
    } else {
      source.format.depth == 8 ? run_loop<Convert<std::uint8_t, float>>(&source, &target)
                               : run_loop<Convert<std::uint16_t, float>>(&source, &target);
    }
  }

  // Source and result have different sample types, so the step is never fused.
  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    return make_row_pass(session,
                         {.file = "depth.cl",
                          .function = "convert_depth",
                          .macros = formatted("-D TARGET_DEPTH={}", bits_),
                          .pixels = 8,
                          .variant = label()},
                         input, output(input));
  }

 private:
  int bits_;
};

}  // namespace

StageKind depth_stage_kind() {
  return {.option = "--depth",
          .type = OneOf{{{"8", 8, "256 levels"},
                         {"16", 16, "65536 levels"},
                         {"float", float_depth, "numbers of 32 bits: 0 is black, 1 is white"},
                         {"32", float_depth, "float"}}},
          .help =
              "Change the bits per sample. With 16 bits, the following stages round more finely. "
              "JPEG and WebP hold 8. Floats keep values outside 0 to 1, from files too if this "
              "stage is the first.",
          .formula =
              "16 to 8 bits: out = (x * 255 + 32767) / 65535, rounded down\n"
              "8 to 16 bits: out = x * 257\n"
              "to float: out = x / max, rounded once; max is 255 or 65535\n"
              "from float: out = x * max in single precision, rounded half to even and limited; "
              "NaN is 0",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Is converted like the colours.",
          .examples = {"in.png out.png --depth 16 --levels auto --gamma 1.2 --depth 8"},
          .from_options = [](const OptionValues& values) {
            return std::make_shared<Depth>(values.choice<int>("--depth"));
          }};
}

}  // namespace gpufilter
