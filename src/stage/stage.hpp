// A stage: a user's request. For each picture it is lowered to steps, which do the work (step.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "image/image.hpp"
#include "image/metadata.hpp"
#include "image/placement.hpp"
#include "stage/step.hpp"

namespace gpufilter {

// What a stage needs from the whole picture before its steps are known: statistics, or all pixels,
// turned like this and kept (pipeline/execute/kept_picture.hpp).
struct Demand {
  std::optional<Quantity> statistics = std::nullopt;
  std::optional<Turn> whole = std::nullopt;
  StageCost cost;  // of what follows, for estimates
};

// The work of a stage on one picture.
struct Lowered {
  // On the processor with any instruction set, one after the other. Neither steps nor a demand:
  // nothing is to be done.
  Steps steps = {};
  // Where there may be others: the steps on a device, or on the processor (nullptr) with the
  // instruction set in use. Plans ask for them, each for the place where it runs.
  std::function<Steps(const DeviceInfo*)> steps_on = nullptr;
  // Instead of steps. Until it is met, the result counts as having the source's shape, turned.
  std::optional<Demand> demand = std::nullopt;

  // The stage's own name and label for reports, where they say more than Stage's; no name: those.
  StepTitle title = {};
  std::string warning = {};  // of what looks like a mistake for such a picture
  // The position of the result in the source, if all of its pixels are pixels of the source;
  // nothing if it computes some, or has to read them first.
  std::optional<Placement> placement = std::nullopt;
  // The turn, if the stage does nothing else.
  std::optional<Turn> turn = std::nullopt;
  // Whether the result does the work of PictureContext::before as well.
  bool replaces_before = false;
  // By how much the source may be decoded smaller, because the result is smaller still and need not
  // have the bits that the whole source yields: 1, 2, 4 or 8.
  int decoding_divisor = 1;
  // The profile of the result, if it differs from the source's.
  std::shared_ptr<const IccProfile> profile = nullptr;
  // The next value of PictureContext::depth_outside.
  std::optional<int> depth_outside = std::nullopt;
};

// A source that was decoded smaller.
struct SmallerSource {
  ImageSize whole;
  int divisor = 1;  // of the sides, which were rounded up
};

// What is known of a picture at a stage's position in the chain.
struct PictureContext {
  PictureShape shape;
  // The meaning of the samples; nullptr: unknown, stages stay as they were made.
  std::shared_ptr<const Metadata> metadata = nullptr;
  int depth_outside = 8;  // between --linear and --encoded: of the samples before
  int orientation = 1;    // EXIF; 1 after the stage that applies it
  std::optional<SmallerSource> smaller = std::nullopt;
  // The stage before, if nothing else needs its result.
  const Lowered* before = nullptr;
  // The statistics that the stage demanded.
  const PictureStatistics* statistics = nullptr;
  const WholePicture* kept = nullptr;
};

// Properties of a stage that are known before there is a picture.
struct StageTraits {
  bool names_kernel = false;    // the user requested a certain OpenCL kernel: `auto` means OpenCL
  bool needs_opencl = false;    // the processor's code is only a result to compare with
  bool has_up = false;          // it gets upright pictures, unless --orientation says otherwise
  bool turns_upright = false;   // it applies the EXIF orientation
  bool reads_metadata = false;  // its work depends on metadata about colours
  bool sets_profile = false;    // its result may have another profile
  bool needs_encoded = false;   // it cannot work in linear light, between --linear and --encoded
  bool measures = false;        // it demands statistics
  bool keeps_picture = false;   // it demands the whole picture
  bool takes_floats = false;    // it has a rule for floating-point samples
  bool reads_floats = false;    // as the first stage, it gets them from files that have them
};

class Stage {
 public:
  virtual ~Stage() = default;

  // The option that requests it, without dashes: "blur".
  [[nodiscard]] virtual std::string name() const = 0;

  // The requested value, for reports: "sepia"; empty if the name is enough.
  [[nodiscard]] virtual std::string label() const { return {}; }

  // Everything that determines the result, as text: stages with equal keys give the same bits for
  // every picture. It includes the contents of files, but not kernel variants.
  [[nodiscard]] virtual std::string key() const = 0;

  [[nodiscard]] virtual StageTraits traits() const { return {}; }

  // The stage's work on a picture. Depends only on the stage and the context. Throws
  // UnsuitableSize; UsageError if it cannot work on such a picture; UnusableProfile, RefusedColors.
  [[nodiscard]] virtual Lowered lower(const PictureContext& context) const = 0;
};

using StageChain = std::vector<std::shared_ptr<const Stage>>;

// A stage that is its own only step, for every picture. Made by std::make_shared.
class OneStepStage : public Stage, public Step, public std::enable_shared_from_this<OneStepStage> {
 public:
  [[nodiscard]] StepTitle title() const final { return {name(), label()}; }
  [[nodiscard]] Lowered lower(const PictureContext& /*context*/) const override {
    return {.steps = {shared_from_this()}};
  }
};

}  // namespace gpufilter
