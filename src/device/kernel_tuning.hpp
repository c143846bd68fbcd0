// How the work of a kernel is divided among work-items, and who decides that.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/pixel_format.hpp"

namespace gpufilter {

class Json;

// The macros PIXELS, LINES, GROUP_WIDTH and GROUP_HEIGHT of kernels/stage/common.cl. No shape
// changes the result.
struct WorkShape {
  std::size_t pixels = 4;        // neighbours in a row that a work-item fills: 1 or a multiple of 4
  std::size_t lines = 1;         // rows that a work-item fills
  std::size_t group_width = 64;  // work-items
  std::size_t group_height = 1;
  bool operator==(const WorkShape&) const = default;
};

// "8x4 pixels per work-item, groups of 64x2".
[[nodiscard]] std::string to_string(const WorkShape& shape);

// Constants of kernels that are not over rows, by their names in the kernel files: "BLOCK_ROWS".
using KernelConstants = std::map<std::string, std::size_t>;

// From {"BLOCK_ROWS": 4}. Throws JsonError.
[[nodiscard]] KernelConstants constants_from(const Json& json);

struct KernelCandidate {
  std::string algorithm;           // "blur_strips", "tiled 16x16"
  WorkShape shape = {};            // of a kernel over rows
  KernelConstants constants = {};  // of another kernel; empty if its name says everything
  bool operator==(const KernelCandidate&) const = default;
};

// "blur_strips, 8x4 pixels a work-item, groups of 64x2", "reduce_picture, BATCH 4, PIXELS 16".
[[nodiscard]] std::string to_string(const KernelCandidate& candidate);

// Identifies a choice of a kernel: its purpose and the formats of its rows.
struct KernelSite {
  std::string name;
  PixelFormat source;
  PixelFormat target;
  std::string code;  // hash of all candidate kernels

  // Name and formats: "blur_strips 4x8 to 4x8"; only the name if it is not about pictures.
  [[nodiscard]] std::string key() const;
};

// Chooses among candidates. Thread-safe.
class KernelTuning {
 public:
  virtual ~KernelTuning() = default;

  struct Choice {
    std::size_t candidate = 0;  // its index
    std::string reason;
  };
  // `candidates` have to fit the device; the first is used if nothing is returned.
  [[nodiscard]] virtual std::optional<Choice> choose(
      const KernelSite& site, std::span<const KernelCandidate> candidates) const = 0;
};

// The shapes to try for a kernel function, from kernels/candidates.json; none if it is not listed.
// Throws DeviceError if that file is damaged.
[[nodiscard]] std::vector<WorkShape> candidate_shapes(const std::string& function);
// The candidates for the constants of a function with its own constants. `others`: a document of
// the same form for functions that the file does not list.
[[nodiscard]] std::vector<KernelConstants> candidate_constants(const std::string& function,
                                                               std::string_view others = "{}");

}  // namespace gpufilter
