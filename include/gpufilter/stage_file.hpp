// Data for stages that otherwise read a file: networks, tables of colours, pictures.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gpufilter/path_name.hpp>

namespace gpufilter {

class Picture;

// A file that a stage reads: at a path, or bytes in memory, which copies share. Immutable.
class StageFile {
 public:
  // No file.
  StageFile() = default;
  // The file at this path.
  template <PathText Text>
  StageFile(const Text& path)  // NOLINT(google-explicit-constructor): a path stands for its file
      : path_(path) {}
  // A copy of what would be in a file: ONNX for net, .cube for lut.
  template <std::convertible_to<std::span<const std::uint8_t>> Bytes>
  StageFile(const Bytes& bytes) {  // NOLINT(google-explicit-constructor): they stand for a file
    const std::span<const std::uint8_t> all = bytes;
    bytes_ = std::make_shared<const std::vector<std::uint8_t>>(all.begin(), all.end());
  }
  // A picture for overlay, or a HaldCLUT for lut. Throws UsageError if it has no pixels.
  StageFile(const Picture& picture);  // NOLINT(google-explicit-constructor): as above

  // Empty if the file is in memory.
  [[nodiscard]] const std::string& path() const { return path_; }
  // nullptr if it is not in memory.
  [[nodiscard]] const std::shared_ptr<const std::vector<std::uint8_t>>& bytes() const {
    return bytes_;
  }

 private:
  std::string path_;
  std::shared_ptr<const std::vector<std::uint8_t>> bytes_;
};

// A table for lut: `size` colours along each axis, each red, green and blue, 0 to 1; red changes
// fastest. Throws UsageError if there are more or fewer numbers, or one is not finite.
[[nodiscard]] StageFile color_table(std::span<const float> colors, int size);

// A curve for each channel, for lut: red, green and blue for evenly spaced samples from 0 to 1.
// Throws UsageError as above.
[[nodiscard]] StageFile color_curves(std::span<const float> colors);

// A layer of a network for mlp: y = activation(W x + bias).
struct MlpLayer {
  std::vector<float> weights;       // W, row by row: a row for each number of `bias`
  std::vector<float> bias;          // a number for each output
  std::string activation = "none";  // "none", "relu" or "clamp"
};

// A network for mlp. Throws UsageError if weights do not fit their bias, or a number is not finite.
[[nodiscard]] StageFile mlp_network(std::span<const MlpLayer> layers);

// A matrix for color and convolve, row by row: "1 2 1; 2 4 2; 1 2 1".
[[nodiscard]] std::string matrix_text(std::span<const double> numbers, int columns);

}  // namespace gpufilter
