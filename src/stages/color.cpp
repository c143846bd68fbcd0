#include "stages/color.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stages/color_presets.hpp"
#include "stages/color_rows.hpp"
#include "stages/color_text.hpp"

namespace gpufilter {
namespace {

// What a device runs: a kernel and the shape of its work-groups.
struct Launch {
  const char* function;
  std::size_t pixels;  // of a row, a work-item
  std::size_t group_width;
  const char* variant;
  const char* reason;
};

Launch choose(ColorKernel kernel, const DeviceInfo& device) {
  constexpr Launch stretches{"color_stretches", 2048, 1, "stretches", "a CPU"};
  constexpr Launch quads{"color_quads", 4, 64, "quads", "no CPU"};
  switch (kernel) {
    case ColorKernel::stretches:
      return stretches;
    case ColorKernel::quads:
      return quads;
    case ColorKernel::automatic:
      break;
  }
  return device.kind == DeviceKind::cpu ? stretches : quads;
}

class ColorPass final : public DevicePass {
 public:
  ColorPass(Session& session, const ColorMatrix& matrix, const std::string& label,
            const Launch& launch, ImageSize size, const PixelFormat& input)
      : kernel_(session.make_kernel(
            {"color.cl", launch.function,
             format("-D CHANNELS={} -D DEPTH={} -D READS_ALPHA={} -D KEEPS_ALPHA={} "
                    "-D PIXELS={} -D GROUP_WIDTH={}",
                    input.channels, input.depth, matrix.colors_read_alpha() ? 1 : 0,
                    matrix.keeps_alpha() ? 1 : 0, launch.pixels, launch.group_width)})),
        launch_(launch),
        size_(size),
        source_pitch_(pitch_in_samples(size, input)),
        target_pitch_(pitch_in_samples(size, color_output(matrix, input))),
        coefficients_(color_coefficients(matrix, input)),
        device_coefficients_(session.allocate(sizeof coefficients_)),
        description_{format("{}, {}", label, launch.variant), launch.reason, kernel_.origin()} {}

  [[nodiscard]] const Description& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    if (!uploaded_) {
      queue.upload(device_coefficients_, coefficients_.data(), sizeof coefficients_);
      uploaded_ = true;
    }
    const int target_rows = target.rows.count();
    const std::size_t items =
        (static_cast<std::size_t>(size_.width) + launch_.pixels - 1) / launch_.pixels;
    return {queue.launch(
        kernel_, {items, static_cast<std::size_t>(target_rows), launch_.group_width, 1},
        {*source.buffer, source_pitch_, source.rows.begin, *target.buffer, target_pitch_,
         target.rows.begin, target_rows, size_.width, device_coefficients_})};
  }

 private:
  static int pitch_in_samples(ImageSize size, const PixelFormat& pixel) {
    return static_cast<int>(row_pitch(size.width, pixel) / pixel.bytes_per_sample());
  }

  Kernel kernel_;
  Launch launch_;
  ImageSize size_;
  int source_pitch_;
  int target_pitch_;
  ColorCoefficients coefficients_;
  Buffer device_coefficients_;
  bool uploaded_ = false;
  Description description_;
};

class Color final : public Stage {
 public:
  Color(const ColorMatrix& matrix, std::string label, ColorKernel kernel)
      : matrix_(matrix), label_(std::move(label)), kernel_(kernel) {}

  [[nodiscard]] std::string name() const override { return "color"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {format("color {}x{}", input.channels, input.depth), 1};
  }
  [[nodiscard]] std::string key() const override {
    std::string text = "color";
    for (const auto& row : matrix_.weights)
      text += format(" {:a}", fmt::join(row, " "));
    return text + format(" {:a}", fmt::join(matrix_.bias, " "));
  }

  [[nodiscard]] PixelFormat output_format(const PixelFormat& input) const override {
    return color_output(matrix_, input);
  }

  [[nodiscard]] std::shared_ptr<const Stage> merged_with(const Stage& next) const override {
    const auto* color = dynamic_cast<const Color*>(&next);
    if (color == nullptr) return nullptr;
    const auto matrix = merged(matrix_, color->matrix_);
    return matrix ? make_color(*matrix, label_ + "+" + color->label_, kernel_) : nullptr;
  }

  [[nodiscard]] bool changes_nothing(const PixelFormat& input) const override {
    return matrix_.is_identity() && output_format(input) == input;
  }

  void run(const ConstRows& source, const MutableRows& target, ImageSize /*size*/) const override {
    color_rows(source, target, matrix_);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    return std::make_unique<ColorPass>(session, matrix_, label_, choose(kernel_, session.device()),
                                       size, input);
  }

 private:
  ColorMatrix matrix_;
  std::string label_;
  ColorKernel kernel_;
};

// A value that is neither a preset nor a matrix and names no file.
[[noreturn]] void refuse_unknown(const std::string& value) {
  const auto near = color_presets_like(value);
  const std::string name = printable(value);
  throw UsageError(
      near.empty()
          ? format("--color {}: neither a preset (--list-presets shows them) nor a file", name)
          : format("--color {}: neither a preset nor a file; did you mean {}?", name,
                   enumerated(near, "or")));
}

std::shared_ptr<const Stage> color_from_options(const OptionValues& values) {
  const std::string& value = values.text("--color");
  if (const auto rows = find_color_preset(value)) return make_color(to_matrix(*rows), value);
  if (is_matrix_text(value)) return make_color(parse_color_matrix(value, ""), "matrix");
  std::error_code ignored;
  if (!std::filesystem::exists(value, ignored)) refuse_unknown(value);
  return make_color(read_color_matrix(value), std::filesystem::path(value).filename());
}

}  // namespace

std::shared_ptr<const Stage> make_color(const ColorMatrix& matrix, std::string label,
                                        ColorKernel kernel) {
  return std::make_shared<Color>(matrix, std::move(label), kernel);
}

StageKind color_stage_kind() {
  return {.option = "--color",
          .type = FreeText{"PRESET[=AMOUNT]|FILE|MATRIX"},
          .help =
              "multiply every pixel by a 3x3, 3x4, 4x4 or 4x5 matrix: a preset's, a text "
              "file's, or written out as \"a b c; d e f; g h i\"",
          .listings = {{"--list-presets",
                        "Print the presets of --color with their matrices and sources",
                        color_preset_list}},
          .from_options = color_from_options};
}

}  // namespace gpufilter
