#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <gpufilter/files.hpp>
#include <gpufilter/stage_file.hpp>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

// Text that grows by shortest numbers, which read back as exactly the same.
class NumberText {
 public:
  explicit NumberText(std::string beginning) : text_(std::move(beginning)) {}

  NumberText& operator<<(std::string_view words) {
    text_ += words;
    return *this;
  }
  template <std::floating_point Number>
  NumberText& operator<<(Number number) {
    if (!std::isfinite(number)) throw UsageError("a number is not finite");
    char digits[64];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    return *this;
  }
  // Numbers with `between` them.
  template <typename Number>
  void add_row(std::span<const Number> numbers, std::string_view between) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      *this << (i == 0 ? std::string_view() : between) << numbers[i];
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] StageFile file() const {
    return std::span(reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size());
  }

 private:
  std::string text_;
};

StageFile cube_file(const char* keyword, int size, std::span<const float> colors) {
  NumberText text(formatted("{} {}\n", keyword, size));
  for (std::size_t i = 0; i < colors.size(); i += 3) {
    text.add_row(colors.subspan(i, 3), " ");
    text << "\n";
  }
  return text.file();
}

}  // namespace

StageFile::StageFile(const Picture& picture)
    : bytes_(std::make_shared<const std::vector<std::uint8_t>>(
          encode("png", picture, {{"png-level", "1"}}))) {}

StageFile color_table(std::span<const float> colors, int size) {
  const auto side = static_cast<std::size_t>(size);
  if (size < 2 || size > 256 || colors.size() != 3 * side * side * side)
    throw UsageError(
        formatted("a table of {} numbers and {} colours along each axis; choose 2 to "
                  "256 colours, and three numbers for each of them",
                  colors.size(), size));
  return cube_file("LUT_3D_SIZE", size, colors);
}

StageFile color_curves(std::span<const float> colors) {
  const std::size_t size = colors.size() / 3;
  if (size < 2 || size > 65536 || colors.size() % 3 != 0)
    throw UsageError(formatted("curves of {} numbers; choose 2 to 65536 colours of three numbers",
                               colors.size()));
  return cube_file("LUT_1D_SIZE", static_cast<int>(size), colors);
}

StageFile mlp_network(std::span<const MlpLayer> layers) {
  NumberText text(R"({"format":"gpufilter-network-1","layers":[)");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const MlpLayer& layer = layers[i];
    const std::size_t outputs = layer.bias.size();
    if (outputs == 0 || layer.weights.empty() || layer.weights.size() % outputs != 0)
      throw UsageError(
          formatted("layer {} has {} weights and {} numbers of bias; there is a row of "
                    "weights for each of them",
                    i + 1, layer.weights.size(), outputs));
    const std::size_t inputs = layer.weights.size() / outputs;
    text << (i == 0 ? "" : ",") << R"({"weights":[)";
    for (std::size_t row = 0; row < outputs; ++row) {
      text << (row == 0 ? "[" : ",[");
      text.add_row(std::span(layer.weights).subspan(row * inputs, inputs), ",");
      text << "]";
    }
    text << R"(],"bias":[)";
    text.add_row(std::span(layer.bias), ",");
    text << R"(],"activation":")" << layer.activation << "\"}";
  }
  text << "]}";
  return text.file();
}

std::string matrix_text(std::span<const double> numbers, int columns) {
  const auto width = static_cast<std::size_t>(columns);
  if (columns < 1 || numbers.empty() || numbers.size() % width != 0)
    throw UsageError(formatted("{} numbers in rows of {}", numbers.size(), columns));
  NumberText text("");
  for (std::size_t i = 0; i < numbers.size(); i += width) {
    text << (i == 0 ? "" : "; ");
    text.add_row(numbers.subspan(i, width), " ");
  }
  return text.text();
}

}  // namespace gpufilter
