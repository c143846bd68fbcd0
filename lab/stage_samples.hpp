// Sample stages from the catalogue, and the cases that `gpufilter verify` tries: a new stage there
// is verified and tuned automatically.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "image/image.hpp"
#include "pipeline/plan/plan.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter::lab {

struct StageSample {
  std::string text;  // as on the command line: "--blur tiled --tile 8"
  std::shared_ptr<const Stage> stage;
  bool has_defaults = true;     // every parameter has its default value
  std::string parameters = {};  // the others: " --border wrap --tile 8"
};

// The kinds of stages by the names of their options without dashes: "blur". All of them if `names`
// is empty.
[[nodiscard]] std::vector<std::string> stage_names();
[[nodiscard]] std::vector<StageKind> stage_kinds(const std::vector<std::string>& names);

// Samples of one kind: each of its values (its words, or StageKind::sample_values and
// sample_stages) with parameters. With `all`, every combination of the parameters' words; otherwise
// at most one parameter differs from its default. Of a range of numbers, both ends are tried. The
// first sample has default parameters.
[[nodiscard]] std::vector<StageSample> samples_of(const StageKind& kind, bool all);

struct VerifyChain {
  std::string text;  // as on the command line
  StageChain chain;
  bool every_candidate = false;  // of its kernels, not only the usual one
};

// Samples of the kinds of stages of these names (all if there are none). A kind with very many
// shares them among the turns, so that each comes in one of at most four. With `quick`, a parameter
// other than its default comes with one of the stage's values, with another one in the next turn.
[[nodiscard]] std::vector<VerifyChain> verify_samples(const std::vector<std::string>& stages,
                                                      bool quick, std::size_t turn);

// Two kinds of these stages one after the other, as consecutive stages may share a kernel. Each
// kind comes before one other, which differs from turn to turn; of up to four kinds, before each.
[[nodiscard]] std::vector<VerifyChain> verify_pairs(const std::vector<std::string>& stages,
                                                    std::size_t turn);

[[nodiscard]] std::vector<PixelFormat> verify_formats(bool quick);

// Odd, tiny and wider than several work-groups.
[[nodiscard]] std::vector<ImageSize> verify_sizes(bool quick);

// Heights of bands for a result of `height` rows, beginning with the whole height.
[[nodiscard]] std::vector<int> verify_bands(int height, bool quick);

// Random samples including extremes, with opaque and fully transparent areas; the same for the same
// shape.
[[nodiscard]] Image verify_picture(const PictureShape& shape);

}  // namespace gpufilter::lab
