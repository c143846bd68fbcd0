#include <cstdint>

#include "base/format.hpp"
#include "host/loops.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

std::uint16_t converted(std::uint8_t sample) {
  return static_cast<std::uint16_t>(sample * 257);
}
std::uint8_t converted(std::uint16_t sample) {
  return narrow_sample(sample);
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
            out[i] = converted(in[i]);
        });
  }
};

class Depth final : public OneStepStage {
 public:
  explicit Depth(int bits) : bits_(bits) {}

  [[nodiscard]] std::string name() const override { return "depth"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", bits_); }
  [[nodiscard]] std::string key() const override { return formatted("depth {}", bits_); }
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
    bits_ == 8 ? run_loop<Convert<std::uint16_t, std::uint8_t>>(&source, &target)
               : run_loop<Convert<std::uint8_t, std::uint16_t>>(&source, &target);
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
          .type = OneOf{{{"8", 8, "256 levels"}, {"16", 16, "65536 levels"}}},
          .help =
              "Change the bits per sample. With 16 bits, the following stages round more finely. "
              "JPEG and WebP hold 8.",
          .formula =
              "to 8 bits: out = (x * 255 + 32767) / 65535, rounded down\n"
              "to 16 bits: out = x * 257",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Is converted like the colours.",
          .examples = {"in.png out.png --depth 16 --levels auto --gamma 1.2 --depth 8"},
          .from_options = [](const OptionValues& values) {
            return std::make_shared<Depth>(values.choice<int>("--depth"));
          }};
}

}  // namespace gpufilter
