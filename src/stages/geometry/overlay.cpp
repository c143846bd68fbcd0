#include "stages/geometry/overlay.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "codec/codec.hpp"
#include "codec/read_limits.hpp"
#include "codec/unread.hpp"
#include "device/device_constants.hpp"
#include "host/turn_rows.hpp"
#include "image/exif_orientation.hpp"
#include "image/image.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stages/geometry/overlay_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

std::string hash_of(const Image& image) {
  ContentHasher hasher;
  for (int y = 0; y < image.size().height; ++y)
    hasher.add({image.rows().row(y), image.rows().row_bytes()});
  return to_string(hasher.result());
}

class Overlay final : public OneStepStage {
 public:
  Overlay(Image picture, const OverlayPlace& place, double opacity, std::string label)
      : picture_(std::move(picture)),
        place_(place),
        opacity_(opacity),
        label_(std::move(label)),
        has_colors_(has_colors(picture_)) {}

  [[nodiscard]] std::string name() const override { return "overlay"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    return formatted("overlay {}x{} {}x{} {} {} {} {} {:a}", picture_.width(),
                     picture_.size().height, picture_.format().channels, picture_.format().depth,
                     hash_of(picture_), static_cast<int>(place_.gravity), place_.offset.x,
                     place_.offset.y, opacity_);
  }
  [[nodiscard]] StageTraits traits() const override { return {.has_up = true}; }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    if (!has_colors_ || input.format.color_channels() == 3) return input;
    return {input.size, {input.format.has_alpha() ? 4 : 3, input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("overlay {}x{}", input.channels, input.depth), 0.5e-9, 20e-12}, 1};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    overlay_rows(source, target, pixels_for(target.format), corner_in(sizes.source));
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const PictureShape result = output(input);
    const OverlayPixels& above = pixels_for(result.format);
    const PixelPosition corner = corner_in(input.size);
    // A buffer is never empty.
    const std::vector<std::uint8_t> alphas =
        above.alphas.empty() ? std::vector<std::uint8_t>(2) : above.alphas;
    const std::array<std::int32_t, 4> place{corner.x, corner.y, above.size.width,
                                            above.size.height};
    return make_row_pass(
        session,
        {.file = "overlay.cl",
         .function = "overlay",
         .tables = {above.colors, alphas, to_bytes(std::span<const std::int32_t>(place))},
         .pixels = wide_pixels(result.format),
         .variant = label()},
        input, result);
  }

 private:
  struct Slot {
    std::once_flag made;
    OverlayPixels pixels;
  };

  [[nodiscard]] PixelPosition corner_in(ImageSize below) const {
    return placed(picture_.size(), below, place_.gravity, place_.offset);
  }

  // Made when first requested. Thread-safe.
  [[nodiscard]] const OverlayPixels& pixels_for(const PixelFormat& format) const {
    Slot& slot = slots_.at(static_cast<size_t>(format.channels - 1 + (format.depth == 8 ? 0 : 4)));
    std::call_once(slot.made, [&] { slot.pixels = overlay_pixels(picture_, format, opacity_); });
    return slot.pixels;
  }

  Image picture_;
  OverlayPlace place_;
  double opacity_;
  std::string label_;
  bool has_colors_;
  mutable std::array<Slot, 8> slots_;
};

// "+10", "-3" at the beginning of `text`, which loses it; false if there is none.
bool take_offset(std::string_view& text, int& offset) {
  const size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  constexpr size_t maximum_digits = 7;
  if (text.empty() || (text[0] != '+' && text[0] != '-') || end < 2 || end > 1 + maximum_digits)
    return false;
  offset = std::stoi(std::string(text.substr(0, end)));
  text.remove_prefix(end);
  return true;
}

const std::vector<Choice>& gravity_choices() {
  static const StageParameter gravity = gravity_parameter();
  return std::get<OneOf>(gravity.type).choices;
}

// Pixels of any value, some of them transparent, some opaque.
Image sample_picture(ImageSize size, PixelFormat format) {
  Image image(size, format);
  std::uint32_t state = 1;
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = image.rows().row(y);
    for (size_t i = 0; i < image.rows().row_bytes(); ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint32_t byte = state >> 24U;
      row[i] = static_cast<std::uint8_t>(byte < 32 ? 0 : byte > 223 ? 255 : byte);
    }
  }
  return image;
}

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> sample_overlays() {
  const OverlayPlace corner{Gravity::southeast, {5, 3}};
  return {{"RGBA", make_overlay(sample_picture({37, 11}, {4, 8}), corner, 1, "RGBA")},
          {"grey --opacity 0.4", make_overlay(sample_picture({300, 9}, {1, 16}), {}, 0.4, "grey")}};
}

// With an alpha for each sample of a picture in colour.
std::uint64_t overlay_memory(const PictureHeader& header) {
  const PixelFormat& format = header.format;
  return header.size.pixels() * (format.bytes_per_pixel() + 6 * format.bytes_per_sample());
}

// All pixels of a picture that will be blended over others, turned as its orientation says. Throws
// UsageError "PATH: reason", also if they and what overlay_pixels() makes of them take more memory
// than `limits` allow.
Image read_overlay(const std::string& path, const ReadLimits& limits) {
  try {
    const std::unique_ptr<RowReader> reader = open_picture(open_source(path), limits);
    const PictureHeader& header = reader->header();
    check_memory(path, overlay_memory(header), limits, "an overlay", "make it smaller");
    warn_of_unread(path, header.unread);
    Image image(header.size, header.format);
    reader->read(image.rows());
    Metadata metadata = header.metadata;
    add_late_metadata(metadata, reader->finish());
    return turned(std::move(image), turn_for_orientation(stored_orientation(metadata).value_or(1)));
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  }
}

std::shared_ptr<const Stage> overlay_from_options(const OptionValues& values) {
  const std::string& path = values.text("--overlay");
  const OverlayPlace place = parse_overlay_place(values.text("--at"));
  return make_overlay(read_overlay(path, values.limits()), place, values.number("--opacity"),
                      std::filesystem::path(path).filename());
}

}  // namespace

OverlayPlace parse_overlay_place(const std::string& text) {
  OverlayPlace place{Gravity::northwest, {}};
  std::string_view rest = text;
  const std::string_view word = rest.substr(0, std::min(rest.find_first_of("+-"), rest.size()));
  bool known = word.empty() && !rest.empty();
  for (const Choice& choice : gravity_choices()) {
    if (choice.word != word || choice.meaning == static_cast<int>(Gravity::automatic)) continue;
    place.gravity = static_cast<Gravity>(choice.meaning);
    known = true;
  }
  rest.remove_prefix(word.size());
  const bool has_offset = !rest.empty();
  if (known && has_offset)
    known = take_offset(rest, place.offset.x) && take_offset(rest, place.offset.y) && rest.empty();
  if (known) return place;
  throw UsageError(
      formatted("--at {}: write a position such as southeast or center, an offset such as +10+20, "
                "or both: southeast+10+20",
                printable(text)));
}

std::shared_ptr<const Stage> make_overlay(Image picture, const OverlayPlace& place, double opacity,
                                          std::string label) {
  return std::make_shared<Overlay>(std::move(picture), place, opacity, std::move(label));
}

StageKind overlay_stage_kind() {
  std::vector<std::string> words;
  for (const Choice& choice : gravity_choices()) {
    if (choice.meaning != static_cast<int>(Gravity::automatic)) words.push_back(choice.word);
  }
  return {
      .option = "--overlay",
      .type = FileName{".png"},
      .help =
          "Overlay a watermark, logo or frame. FILE is a picture, usually a PNG with alpha. It is "
          "read once for all pictures, and may be larger than a picture or lie partly outside.",
      .parameters = {{.option = "--at",
                      .type = FreeText{"POSITION+X+Y",
                                       {{"POSITION",
                                         "a corner (northwest, northeast, southwest, "
                                         "southeast), an edge (north, west, east, south) or "
                                         "the center"},
                                        {"+X+Y",
                                         "pixels inwards from there, from the center to the "
                                         "right and down; alone, from the top left; -X-Y "
                                         "the other way"}},
                                       words},
                      .default_value = "center",
                      .help = "Where FILE is placed in the picture."},
                     {.option = "--opacity",
                      .type = NumberIn{0, 1, false, Percent::of_one},
                      .default_value = "1",
                      .help = "What the alpha of FILE is multiplied by."}},
      .formula =
          "s = alpha of FILE * OPACITY, rounded; b = alpha of the picture\n"
          "without alpha: out = (c * s + x * (max - s) + max / 2) / max\n"
          "with alpha: sum = s * max + b * (max - s)\n"
          "            out = (c * s * max + x * b * (max - s) + sum / 2) / sum\n"
          "            alpha = (sum + max / 2) / max\n"
          "c are the samples of FILE in the picture's depth, x those of the picture; integers, "
          "divisions rounded down. Where sum is 0, x stays.",
      .edges = "What lies outside the picture is cut off.",
      .alpha = "Both alphas count, as the formula says. A picture without alpha gets none.",
      .examples = {"in.jpg out.jpg --overlay logo.png --at southeast+20+20",
                   "photos/ web/ --resize 1600x --overlay logo.png --opacity 0.3"},
      .sample_stages = sample_overlays,
      .from_options = overlay_from_options};
}

}  // namespace gpufilter
