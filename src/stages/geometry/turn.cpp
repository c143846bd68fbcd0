#include <utility>

#include "base/format.hpp"
#include "host/turn_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stages/geometry/geometry.hpp"

namespace gpufilter {
namespace {

// A turn in which each row of the result consists of pixels of the same row of the source.
class TurnStep final : public Step {
 public:
  TurnStep(const Turn& turn, StepTitle title) : turn_(turn), title_(std::move(title)) {}

  [[nodiscard]] StepTitle title() const override { return title_; }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override { return cost_of(input); }
  [[nodiscard]] static StageCost cost_of(const PixelFormat& input) {
    return {{"turn pixels", 0.3e-9, 10e-12}, static_cast<double>(input.bytes_per_pixel())};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    return {.changes_nothing = turn_.changes_nothing()};
  }
  [[nodiscard]] std::shared_ptr<const Step> merged_with(const Step& next) const override {
    const auto* other = dynamic_cast<const TurnStep*>(&next);
    if (other == nullptr) return nullptr;
    return std::make_shared<TurnStep>(turn_.then(other->turn_),
                                      StepTitle{title_.name + " + " + other->title_.name});
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    turn_rows(source.part(target.rows), turn_, target);
  }
  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    return make_row_pass(session,
                         {.file = "flop.cl",
                          .function = "flop",
                          .macros = formatted("-D MIRRORS={:d}", turn_.mirrors_x),
                          .pixels = wide_pixels(input.format),
                          .variant = title_.label},
                         input, input);
  }

 private:
  Turn turn_;
  StepTitle title_;
};

// Other turns need the whole picture. With neighbours that turn it as well, it is kept once, and
// not at all if they cancel out.
Lowered lowered_turn(Turn turn, StepTitle title, const PictureContext& context) {
  if (context.kept != nullptr) return {};
  const Lowered* before = context.before;
  const bool joins = before != nullptr && before->turn && (before->demand || !turn.stays_in_rows());
  const ImageSize source = joins ? before->placement->size : context.shape.size;
  if (joins) {
    turn = before->turn->then(turn);
    title = {before->title.name + " + " + title.name};
  }
  Lowered lowered{.title = title,
                  .placement = Placement{{}, source, turn},
                  .turn = turn,
                  .replaces_before = joins};
  if (turn.stays_in_rows()) {
    lowered.steps = {std::make_shared<TurnStep>(turn, std::move(title))};
  } else {
    lowered.demand = Demand{.whole = turn, .cost = TurnStep::cost_of(context.shape.format)};
  }
  return lowered;
}

class TurnStage final : public Stage {
 public:
  TurnStage(const Turn& turn, std::string name, std::string label)
      : turn_(turn), name_(std::move(name)), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    return formatted("turn {:d} {:d} {:d}", turn_.swaps, turn_.mirrors_x, turn_.mirrors_y);
  }
  [[nodiscard]] StageTraits traits() const override {
    return {.has_up = true, .keeps_picture = !turn_.stays_in_rows(), .takes_floats = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    return lowered_turn(turn_, {name_, label_}, context);
  }

 private:
  Turn turn_;
  std::string name_;
  std::string label_;
};

class AutoOrient final : public Stage {
 public:
  [[nodiscard]] std::string name() const override { return "auto-orient"; }
  [[nodiscard]] std::string key() const override { return name(); }
  [[nodiscard]] StageTraits traits() const override {
    return {.turns_upright = true, .takes_floats = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (context.orientation == 1) return {};
    return lowered_turn(turn_for_orientation(context.orientation),
                        {name(), label_for(context.orientation)}, context);
  }
  [[nodiscard]] static std::string label_for(int orientation) {
    return formatted("orientation {}", orientation);
  }
};

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> oriented_samples() {
  std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> samples;
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string label = AutoOrient::label_for(orientation);
    samples.emplace_back(
        "for " + label,
        std::make_shared<TurnStage>(turn_for_orientation(orientation), AutoOrient().name(), label));
  }
  return samples;
}

constexpr const char* edges = "None: pixels are copied.";
constexpr const char* copied_alpha = "Is copied like the colours.";

}  // namespace

std::shared_ptr<const Stage> make_quarter_turns(int degrees) {
  const Turn turn = degrees == 0     ? Turn{}
                    : degrees == 90  ? quarter_clockwise
                    : degrees == 180 ? half_a_turn
                                     : quarter_counterclockwise;
  return std::make_shared<TurnStage>(turn, "rotate", formatted("{}", degrees));
}

StageKind flip_stage_kind() {
  return {.option = "--flip",
          .type = NoValue{},
          .help = "Turn upside down. The first row becomes the last.",
          .formula = "out(x, y) = in(x, height - 1 - y)",
          .edges = edges,
          .alpha = copied_alpha,
          .examples = {"in.jpg out.jpg --flip"},
          .from_options = [](const OptionValues&) {
            return std::make_shared<TurnStage>(upside_down, "flip", "");
          }};
}

StageKind flop_stage_kind() {
  return {.option = "--flop",
          .type = NoValue{},
          .help = "Mirror left to right. The first column becomes the last.",
          .formula = "out(x, y) = in(width - 1 - x, y)",
          .edges = edges,
          .alpha = copied_alpha,
          .examples = {"in.jpg out.jpg --flop"},
          .from_options = [](const OptionValues&) {
            return std::make_shared<TurnStage>(left_right, "flop", "");
          }};
}

StageKind auto_orient_stage_kind() {
  return {.option = "--auto-orient",
          .type = NoValue{},
          .help =
              "Turn upright, as EXIF says. Cameras store how they were held; afterwards the "
              "orientation is 1. A picture without an orientation does not change. --orientation "
              "does this before stages that depend on it.",
          .formula =
              "EXIF orientation 2: as --flop; 3: --rotate 180; 4: --flip; 5: --rotate 90 --flop;\n"
              "6: --rotate 90; 7: --rotate 270 --flop; 8: --rotate 270",
          .edges = edges,
          .alpha = copied_alpha,
          .examples = {"in.jpg out.jpg --auto-orient"},
          .sample_stages = oriented_samples,
          .from_options = [](const OptionValues&) { return std::make_shared<AutoOrient>(); }};
}

}  // namespace gpufilter
