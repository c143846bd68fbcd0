#include <utility>

#include "base/format.hpp"
#include "host/turn_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/has_up.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

class TurnStage : public Stage, public HasUp {
 public:
  TurnStage(const Turn& turn, std::string name, std::string label)
      : turn_(turn), name_(std::move(name)), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    return formatted("turn {:d} {:d} {:d}", turn_.swaps, turn_.mirrors_x, turn_.mirrors_y);
  }
  [[nodiscard]] ImageSize output_size(ImageSize source) const override {
    return turn_.size_of(source);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{"turn pixels", 0.3e-9, 10e-12}, static_cast<double>(input.bytes_per_pixel())};
  }
  [[nodiscard]] std::optional<Turn> keeps_source() const override {
    return turn_.stays_in_rows() ? std::nullopt : std::optional(turn_);
  }
  [[nodiscard]] std::optional<Placement> placement(ImageSize source) const override {
    return Placement{{}, source, turn_};
  }
  [[nodiscard]] bool changes_nothing(const PictureShape& /*input*/) const override {
    return turn_.changes_nothing();
  }
  [[nodiscard]] std::shared_ptr<const Stage> merged_with(const Stage& next) const override {
    const auto* other = dynamic_cast<const TurnStage*>(&next);
    if (other == nullptr) return nullptr;
    return std::make_shared<TurnStage>(turn_.then(other->turn_), name_ + " + " + other->name_, "");
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
                          .variant = label_},
                         input, output(input));
  }

 private:
  Turn turn_;
  std::string name_;
  std::string label_;
};

// Does nothing for a picture whose orientation is not known.
class AutoOrient final : public TurnStage {
 public:
  AutoOrient() : TurnStage({}, "auto-orient", "") {}
  [[nodiscard]] std::string key() const override { return name(); }
  [[nodiscard]] bool has_up() const override { return false; }
  [[nodiscard]] std::shared_ptr<const Stage> for_orientation(int orientation) const override {
    return std::make_shared<TurnStage>(turn_for_orientation(orientation), name(),
                                       formatted("orientation {}", orientation));
  }
};

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> oriented_samples() {
  std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> samples;
  for (int orientation = 2; orientation <= 8; ++orientation) {
    auto stage = AutoOrient().for_orientation(orientation);
    samples.emplace_back(formatted("for {}", stage->label()), std::move(stage));
  }
  return samples;
}

constexpr const char* edges = "None: pixels are copied.";
constexpr const char* copied_alpha = "Is copied like the colours.";

std::shared_ptr<const Stage> make_rotate(int degrees) {
  const Turn turn = degrees == 0     ? Turn{}
                    : degrees == 90  ? quarter_clockwise
                    : degrees == 180 ? half_a_turn
                                     : quarter_counterclockwise;
  return std::make_shared<TurnStage>(turn, "rotate", formatted("{}", degrees));
}

}  // namespace

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

StageKind rotate_stage_kind() {
  return {.option = "--rotate",
          .type = OneOf{{{"90", 90, "a quarter turn clockwise"},
                         {"180", 180, "half a turn"},
                         {"270", 270, "a quarter turn counterclockwise"},
                         {"0", 0, "as it is"}},
                        {},
                        360},
          .help =
              "Rotate clockwise. Pixels do not change; by 90 and 270 degrees, width and height "
              "change places. Any multiple of 90 is taken: -90 is 270.",
          .formula =
              "90:  out(x, y) = in(y, height - 1 - x)\n"
              "180: out(x, y) = in(width - 1 - x, height - 1 - y)\n"
              "270: out(x, y) = in(width - 1 - y, x)",
          .edges = edges,
          .alpha = copied_alpha,
          .examples = {"in.jpg out.jpg --rotate 90"},
          .from_options = [](const OptionValues& values) {
            return make_rotate(values.choice<int>("--rotate"));
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
