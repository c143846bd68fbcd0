#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "codec/codec.hpp"
#include "codec/read_limits.hpp"
#include "codec/unread.hpp"
#include "device/device_rows.hpp"
#include "host/pixels.hpp"
#include "host/turn_rows.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "image/rows.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/geometry/blend.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/resize/resize.hpp"

namespace gpufilter {
namespace {

// The upper picture, with the channels and depth of the result.
struct OverlayPixels {
  ImageSize size;
  PixelFormat format;
  // Pixels of `format`, row by row without gaps. If the format has no alpha, `alphas` has an alpha
  // for each sample, in the same order; otherwise it is empty.
  std::vector<std::uint8_t> colors;
  std::vector<std::uint8_t> alphas;
  BlendMode blend = BlendMode::normal;
  std::vector<std::uint32_t> table = {};  // soft_light_table() of the depth, or empty
};

using std::size_t;

// flattened() with an alpha for each sample, in the narrowest sufficient integers.
template <typename Sample>
struct OpaqueLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* __restrict color,
                                         const Sample* __restrict alpha, const size_t count,
                                         Sample* __restrict row) {
    using Wide = std::conditional_t<sizeof(Sample) == 1, std::uint16_t, std::uint32_t>;
    constexpr Wide max = std::numeric_limits<Sample>::max();
    for (size_t i = 0; i < count; ++i) {
      const auto above = static_cast<Wide>(Wide{color[i]} * Wide{alpha[i]});
      const auto below = static_cast<Wide>(Wide{row[i]} * static_cast<Wide>(max - alpha[i]));
      row[i] = static_cast<Sample>(static_cast<Wide>(above + below + max / 2) / max);
    }
  }
};

// Floating-point quotients, truncated, equal the integer ones: dividend and divisor have at most 24
// bits in 8-bit pictures and 48 in others, so they are exact; and no quotient is close enough below
// a whole number to be rounded up to it.
template <typename Sample, size_t channels>
struct AlphaLoop {
  using Number = std::conditional_t<sizeof(Sample) == 1, float, double>;

  // `blended`: the colours mixed with those of `row`.
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* __restrict colors,
                                         const Sample* __restrict blended, const size_t count,
                                         Sample* __restrict row) {
    constexpr Number max = std::numeric_limits<Sample>::max();
    constexpr std::uint32_t whole = std::numeric_limits<Sample>::max();
    for (size_t x = 0; x < count; ++x) {
      const auto above = Pixel<Sample, channels>::read(colors + channels * x);
      const auto mixed = Pixel<Sample, channels>::read(blended + channels * x);
      const auto below = Pixel<Sample, channels>::read(row + channels * x);
      const auto alpha = static_cast<std::uint32_t>(above.get(channels - 1));
      const auto other = static_cast<std::uint32_t>(below.get(channels - 1));
      const auto alone = static_cast<Number>(static_cast<std::int32_t>(whole - other));
      const Number weight = static_cast<Number>(above.get(channels - 1)) * max;
      const Number rest = static_cast<Number>(below.get(channels - 1)) *
                          static_cast<Number>(static_cast<std::int32_t>(whole - alpha));
      const std::uint32_t total = alpha * whole + other * (whole - alpha);
      const Number sum = weight + rest;
      const auto half = static_cast<Number>(static_cast<std::int32_t>(total / 2));
      const Number divisor = sum > 0 ? sum : 1;
      const Number kept = sum > 0 ? rest : 1;  // a transparent pixel keeps its colour
      Pixel<Sample, channels> result;
      for (size_t c = 0; c + 1 < channels; ++c) {
        const Number color =
            static_cast<Number>(above.get(c)) * alone +
            static_cast<Number>(mixed.get(c)) * static_cast<Number>(below.get(channels - 1));
        const Number dividend = color * static_cast<Number>(above.get(channels - 1)) +
                                static_cast<Number>(below.get(c)) * kept + half;
        result.put(c, static_cast<std::uint32_t>(static_cast<std::int32_t>(dividend / divisor)));
      }
      result.put(channels - 1, (total + whole / 2) / whole);
      result.write(row + channels * x);
    }
  }
};

// Expands grey to colours. The channel counts are constants: with variables, GCC 12 reads past the
// last pixel.
template <typename Sample, size_t channels>
void color_row(const Sample* in, size_t width, Sample* out) {
  for (size_t x = 0; x < width; ++x, in += channels, out += channels + 2) {
    out[0] = out[1] = out[2] = in[0];
    if constexpr (channels == 2) out[3] = in[1];
  }
}

template <typename Sample>
void copy_row(const std::uint8_t* from, const PixelFormat& source, size_t width,
              const PixelFormat& target, std::uint8_t* to) {
  if (source == target) {
    std::memcpy(to, from, width * source.bytes_per_pixel());
    return;
  }
  const auto* in = reinterpret_cast<const Sample*>(from);
  auto* out = reinterpret_cast<Sample*>(to);
  if (source.has_alpha()) return color_row<Sample, 2>(in, width, out);
  color_row<Sample, 1>(in, width, out);
}

// Lays `count` pixels over those of a row, of which `blended` is nullptr or the mixed colours.
template <typename Sample>
void lay_over(const OverlayPixels& above, size_t first, size_t count, const Sample* blended,
              Sample* out) {
  const auto channels = static_cast<size_t>(above.format.channels);
  const auto* colors = reinterpret_cast<const Sample*>(above.colors.data()) + first * channels;
  if (blended == nullptr) blended = colors;
  if (channels == 2) return run_loop<AlphaLoop<Sample, 2>>(colors, blended, count, out);
  if (channels == 4) return run_loop<AlphaLoop<Sample, 4>>(colors, blended, count, out);
  const auto* alphas = reinterpret_cast<const Sample*>(above.alphas.data()) + first * channels;
  run_loop<OpaqueLoop<Sample>>(blended, alphas, count * channels, out);
}

template <typename Sample>
void blend_over(const OverlayPixels& above, size_t first, size_t count, std::uint8_t* row) {
  auto* out = reinterpret_cast<Sample*>(row);
  if (above.blend == BlendMode::normal) return lay_over<Sample>(above, first, count, nullptr, out);
  const auto channels = static_cast<size_t>(above.format.channels);
  const auto* colors = reinterpret_cast<const Sample*>(above.colors.data());
  constexpr size_t block = 512;
  std::array<Sample, 4 * block> blended;
  for (size_t x = 0; x < count; x += block) {
    const size_t part = std::min(block, count - x);
    Sample* const to = out + channels * x;
    blend_samples(above.blend, colors + (first + x) * channels, to, part * channels,
                  above.table.data(), blended.data());
    lay_over<Sample>(above, first + x, part, blended.data(), to);
  }
}

// The upper picture in a result. If it is tiled, `corner` is that of the first tile, left of and
// above which there is nothing of the result.
struct LaidOver {
  const OverlayPixels& pixels;
  PixelPosition corner;
  bool tiled;
};

// Row `v` of the upper picture, whose first pixel is at column `left` of `row`.
template <typename Sample>
void overlay_row(const OverlayPixels& above, int v, int left, int width, std::uint8_t* row) {
  const int begin = std::max(left, 0);
  const int end = std::min(left + above.size.width, width);
  if (begin >= end) return;
  const size_t first = static_cast<size_t>(v) * static_cast<size_t>(above.size.width) +
                       static_cast<size_t>(begin - left);
  blend_over<Sample>(above, first, static_cast<size_t>(end - begin),
                     row + static_cast<size_t>(begin) * above.format.bytes_per_pixel());
}

template <typename Sample>
void overlay_samples(const ConstRows& source, const MutableRows& target, const LaidOver& above) {
  const ImageSize& size = above.pixels.size;
  const int last = above.tiled ? target.width : above.corner.x + 1;
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    copy_row<Sample>(source.row(y), source.format, static_cast<size_t>(source.width), target.format,
                     target.row(y));
    const int v = above.tiled ? (y - above.corner.y) % size.height : y - above.corner.y;
    if (v < 0 || v >= size.height) continue;
    for (int left = above.corner.x; left < last; left += size.width)
      overlay_row<Sample>(above.pixels, v, left, target.width, target.row(y));
  }
}

// A sample of another depth.
std::uint32_t converted(std::uint32_t sample, int from, int to) {
  if (from == to) return sample;
  return from == 8 ? sample * 257 : narrow_sample(static_cast<std::uint16_t>(sample));
}

template <typename From, typename To>
OverlayPixels pixels_of(const Image& image, const PixelFormat& format, double opacity) {
  const PixelFormat& own = image.format();
  const size_t pixels = image.size().pixels();
  OverlayPixels result{image.size(), format, {}, {}};
  result.colors.resize(pixels * format.bytes_per_pixel());
  if (!format.has_alpha()) result.alphas.resize(result.colors.size());
  std::vector<To> weights;
  for (std::uint32_t alpha = 0; alpha <= format.max_sample(); ++alpha)
    weights.push_back(static_cast<To>(std::floor(alpha * opacity + 0.5)));
  auto* colors = reinterpret_cast<To*>(result.colors.data());
  auto* alphas = format.has_alpha() ? nullptr : reinterpret_cast<To*>(result.alphas.data());
  for (int y = 0; y < image.size().height; ++y) {
    const auto* in = reinterpret_cast<const From*>(image.rows().row(y));
    for (int x = 0; x < image.size().width; ++x, in += own.channels) {
      const std::uint32_t alpha = own.has_alpha()
                                      ? converted(in[own.channels - 1], own.depth, format.depth)
                                      : format.max_sample();
      const To weight = weights[alpha];
      for (int c = 0; c < format.color_channels(); ++c) {
        const std::uint32_t color = in[own.color_channels() == 1 ? 0 : c];
        *colors++ = static_cast<To>(converted(color, own.depth, format.depth));
        if (alphas != nullptr) *alphas++ = weight;
      }
      if (alphas == nullptr) *colors++ = weight;
    }
  }
  return result;
}

template <typename Sample>
bool has_color(const std::uint8_t* row, int width, const PixelFormat& format) {
  const auto* in = reinterpret_cast<const Sample*>(row);
  for (int x = 0; x < width; ++x, in += format.channels) {
    const bool visible = !format.has_alpha() || in[3] > 0;
    if (visible && (in[0] != in[1] || in[1] != in[2])) return true;
  }
  return false;
}

// Converts `image` for results of `format`, which has colours if the image has. Alpha is multiplied
// by `opacity` and rounded to the nearest sample.
OverlayPixels overlay_pixels(const Image& image, const PixelFormat& format, double opacity) {
  if (image.format().depth == 8) {
    return format.depth == 8 ? pixels_of<std::uint8_t, std::uint8_t>(image, format, opacity)
                             : pixels_of<std::uint8_t, std::uint16_t>(image, format, opacity);
  }
  return format.depth == 8 ? pixels_of<std::uint16_t, std::uint8_t>(image, format, opacity)
                           : pixels_of<std::uint16_t, std::uint16_t>(image, format, opacity);
}

// Whether it has a pixel that is neither grey nor transparent.
bool has_colors(const Image& image) {
  const PixelFormat& format = image.format();
  if (format.color_channels() == 1) return false;
  const auto look = format.depth == 8 ? has_color<std::uint8_t> : has_color<std::uint16_t>;
  for (int y = 0; y < image.size().height; ++y) {
    if (look(image.rows().row(y), image.width(), format)) return true;
  }
  return false;
}

// Fills `target` from the same rows of `source` with `above` blended over them. Grey becomes RGB if
// the target has colours.
void overlay_rows(const ConstRows& source, const MutableRows& target, const LaidOver& above) {
  target.format.depth == 8 ? overlay_samples<std::uint8_t>(source, target, above)
                           : overlay_samples<std::uint16_t>(source, target, above);
}

// The size of an overlay that is made `width` wide. Throws UnsuitableSize if it would take more
// than 1 GiB.
ImageSize size_at_width(ImageSize size, int width) {
  const double height = std::max(std::floor(double(size.height) * width / size.width + 0.5), 1.0);
  constexpr double most = 1e8;  // pixels of at most 9 bytes, as overlay_memory() counts
  if (height * width > most)
    throw UnsuitableSize(
        formatted("--overlay-width: the overlay would have {}x{} pixels, more than "
                  "{} million",
                  width, height, most / 1e6));
  return {width, static_cast<int>(height)};
}

// As --resize makes it.
Image resized(const Image& picture, ImageSize size) {
  const auto resize =
      make_resize({.width = size.width, .height = size.height, .fit = ResizeFit::fill});
  const Lowered lowered = resize->lower({.shape = {picture.size(), picture.format()}});
  const Image* source = &picture;
  Image result;
  for (const auto& step : lowered.steps_on ? lowered.steps_on(nullptr) : lowered.steps) {
    const PictureShape shape = step->output({source->size(), source->format()});
    Image target(shape.size, shape.format);
    step->run(source->rows(), target.rows(), {source->size(), shape.size});
    result = std::move(target);
    source = &result;
  }
  return result;
}

std::string hash_of(const Image& image) {
  ContentHasher hasher;
  for (int y = 0; y < image.size().height; ++y)
    hasher.add({image.rows().row(y), image.rows().row_bytes()});
  return to_string(hasher.result());
}

class Overlay final : public OneStepStage {
 public:
  Overlay(Image picture, const OverlayParameters& parameters, std::string label)
      : picture_(std::move(picture)),
        parameters_(parameters),
        label_(std::move(label)),
        has_colors_(has_colors(picture_)) {}

  [[nodiscard]] std::string name() const override { return "overlay"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    const auto& [place, opacity, width, tiled, blend] = parameters_;
    const Length wide = width.value_or(Length{});
    return formatted("overlay {}x{} {}x{} {} {} {:a}{} {:a}{} {:a} {:a}{} {} {}", picture_.width(),
                     picture_.size().height, picture_.format().channels, picture_.format().depth,
                     hash_of(picture_), static_cast<int>(place.gravity), place.x.number,
                     place.x.percent ? "%" : "", place.y.number, place.y.percent ? "%" : "",
                     opacity, wide.number, wide.percent ? "%" : "", tiled, static_cast<int>(blend));
  }
  [[nodiscard]] StageTraits traits() const override { return {.has_up = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (!parameters_.width) return OneStepStage::lower(context);
    return {.steps = {in_width(std::max(parameters_.width->of(context.shape.size.width), 1))}};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    if (!has_colors_ || input.format.color_channels() == 3) return input;
    return {input.size, {input.format.has_alpha() ? 4 : 3, input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("overlay {}x{}", input.channels, input.depth), 0.5e-9, 20e-12}, 1};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    overlay_rows(source, target,
                 {pixels_for(target.format), corner_in(sizes.source), parameters_.tiled});
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const PictureShape result = output(input);
    const OverlayPixels& above = pixels_for(result.format);
    const PixelPosition corner = corner_in(input.size);
    // A buffer is never empty.
    const std::vector<std::uint8_t> alphas =
        above.alphas.empty() ? std::vector<std::uint8_t>(2) : above.alphas;
    const std::vector<std::uint8_t> table =
        above.table.empty() ? std::vector<std::uint8_t>(4) : to_bytes(above.table);
    const std::array<std::int32_t, 4> place{corner.x, corner.y, above.size.width,
                                            above.size.height};
    return make_row_pass(session,
                         {.file = "overlay.cl",
                          .function = "overlay",
                          .macros = formatted("-D TILED={} -D BLEND={}", parameters_.tiled ? 1 : 0,
                                              static_cast<int>(parameters_.blend)),
                          .tables = {above.colors, alphas, to_bytes(place), table},
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
    const OverlayPlace& place = parameters_.place;
    const PixelPosition corner = placed(picture_.size(), below, place.gravity,
                                        {place.x.of(below.width), place.y.of(below.height)});
    if (!parameters_.tiled) return corner;
    const auto first = [](int at, int size) {
      const int rest = at % size;
      return rest > 0 ? rest - size : rest;
    };
    return {first(corner.x, picture_.width()), first(corner.y, picture_.size().height)};
  }

  // Made when first requested, here and below. Thread-safe.
  [[nodiscard]] const OverlayPixels& pixels_for(const PixelFormat& format) const {
    Slot& slot = slots_.at(static_cast<size_t>(format.channels - 1 + (format.depth == 8 ? 0 : 4)));
    std::call_once(slot.made, [&] {
      slot.pixels = overlay_pixels(picture_, format, parameters_.opacity);
      slot.pixels.blend = parameters_.blend;
      if (parameters_.blend == BlendMode::soft_light)
        slot.pixels.table = soft_light_table(format.depth);
    });
    return slot.pixels;
  }

  // The same overlay, so many pixels wide: the pictures of a folder have few widths.
  [[nodiscard]] std::shared_ptr<const Overlay> in_width(int width) const {
    const std::lock_guard lock(mutex_);
    constexpr size_t most = 4;
    if (widths_.size() >= most && !widths_.contains(width)) widths_.clear();
    auto& known = widths_[width];
    if (!known) {
      OverlayParameters parameters = parameters_;
      parameters.width.reset();
      known = std::make_shared<Overlay>(resized(picture_, size_at_width(picture_.size(), width)),
                                        parameters, label_);
    }
    return known;
  }

  Image picture_;
  OverlayParameters parameters_;
  std::string label_;
  bool has_colors_;
  mutable std::array<Slot, 8> slots_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const Overlay>> widths_;
};

// Removes "+10", "-3" or "+2.5%" from the beginning of `text`; false if there is no offset.
bool take_offset(std::string_view& text, Length& offset) {
  const size_t end = std::min(text.find_first_not_of("0123456789.", 1), text.size());
  constexpr size_t maximum_digits = 7;
  if (text.empty() || (text[0] != '+' && text[0] != '-') || end < 2 || end > 1 + maximum_digits)
    return false;
  offset.percent = end < text.size() && text[end] == '%';
  const std::string_view digits = text.substr(0, end);
  const auto number = to_number(digits);
  if (!number || (!offset.percent && digits.find('.') != std::string_view::npos)) return false;
  offset.number = *number;
  text.remove_prefix(end + (offset.percent ? 1 : 0));
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
  const OverlayPlace corner{Gravity::southeast, {5}, {3}};
  return {
      {"RGBA", make_overlay(sample_picture({37, 11}, {4, 8}), {corner}, "RGBA")},
      {"grey --opacity 0.4",
       make_overlay(sample_picture({300, 9}, {1, 16}), {.opacity = 0.4}, "grey")},
      {"RGBA --overlay-width 21% --overlay-tile",
       make_overlay(
           sample_picture({60, 44}, {4, 8}),
           {.place = {Gravity::center, {7}, {3, true}}, .width = Length{21, true}, .tiled = true},
           "RGBA")},
      {"RGBA --blend soft-light",
       make_overlay(sample_picture({90, 31}, {4, 8}), {.blend = BlendMode::soft_light}, "RGBA")},
      {"grey --blend overlay",
       make_overlay(sample_picture({90, 31}, {2, 8}), {.blend = BlendMode::overlay}, "grey")}};
}

// With an alpha for each sample of a picture in colour.
std::uint64_t overlay_memory(const PictureHeader& header) {
  const PixelFormat& format = header.format;
  return header.size.pixels() * (format.bytes_per_pixel() + 6 * format.bytes_per_sample());
}

// All pixels of a picture that will be blended over others, turned as its orientation says. Throws
// UsageError "PATH: reason", also if the pixels, before and after overlay_pixels(), exceed the
// memory of `limits`.
Image read_overlay(const InputFile& file, const ReadLimits& limits) {
  try {
    const std::unique_ptr<RowReader> reader = open_picture(open_stage_file(file), limits);
    const PictureHeader& header = reader->header();
    check_memory(file.name, overlay_memory(header), limits, "an overlay", "make it smaller");
    warn_of_unread(file.name, header.unread);
    Image image(header.size, header.format);
    reader->read(image.rows());
    Metadata metadata = header.metadata;
    add_late_metadata(metadata, reader->finish());
    return turned(std::move(image), turn_for_orientation(stored_orientation(metadata).value_or(1)));
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  }
}

// "auto": the picture's own width.
std::optional<Length> parse_width(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const bool percent = text.ends_with('%');
  const auto number = to_number(text.substr(0, text.size() - (percent ? 1 : 0)));
  const double most = percent ? 1000 : 1e6;
  if (!number || *number <= 0 || *number > most || (!percent && *number != std::floor(*number)))
    throw UsageError(
        formatted("--overlay-width {}: write a percentage of the picture's width, such "
                  "as 15%, or whole pixels",
                  printable(text)));
  return Length{*number, percent};
}

std::shared_ptr<const Stage> overlay_from_options(const OptionValues& values) {
  const InputFile& file = values.file("--overlay");
  const OverlayParameters parameters{.place = parse_overlay_place(values.text("--at")),
                                     .opacity = values.number("--opacity"),
                                     .width = parse_width(values.text("--overlay-width")),
                                     .tiled = values.is_set("--overlay-tile"),
                                     .blend = values.choice<BlendMode>("--blend")};
  return make_overlay(read_overlay(file, values.limits()), parameters,
                      std::filesystem::path(file.name).filename());
}

}  // namespace

OverlayPlace parse_overlay_place(const std::string& text) {
  OverlayPlace place{Gravity::northwest, {}, {}};
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
    known = take_offset(rest, place.x) && take_offset(rest, place.y) && rest.empty();
  if (known) return place;
  throw UsageError(
      formatted("--at {}: write a position such as southeast or center, an offset such as +10+20, "
                "or both: southeast+10+20",
                printable(text)));
}

std::shared_ptr<const Stage> make_overlay(Image picture, const OverlayParameters& parameters,
                                          std::string label) {
  return std::make_shared<Overlay>(std::move(picture), parameters, std::move(label));
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
                                         "pixels, or per cent of the picture (+2%+2%), inwards "
                                         "from there, from the center to the right and down; "
                                         "alone, from the top left; -X-Y the other way"}},
                                       words},
                      .default_value = "center",
                      .help = "Where FILE is placed in the picture."},
                     {.option = "--opacity",
                      .type = NumberIn{0, 1, false, Percent::of_one},
                      .default_value = "1",
                      .help = "A factor for FILE's alpha."},
                     {.option = "--overlay-width",
                      .type = FreeText{"auto|N%|PIXELS",
                                       {{"auto", "its own size"},
                                        {"N%", "a percentage of the picture's width"},
                                        {"PIXELS", "so many pixels"}}},
                      .default_value = "auto",
                      .help = "The width that FILE is resized to, in proportion."},
                     {.option = "--overlay-tile",
                      .type = NoValue{},
                      .default_value = "",
                      .help = "Repeat FILE in all directions."},
                     blend_parameter()},
      .formula =
          "s = alpha of FILE * OPACITY, rounded; b = alpha of the picture\n"
          "without alpha: out = (B * s + x * (max - s) + max / 2) / max\n"
          "with alpha: sum = s * max + b * (max - s)\n"
          "            out = ((c * (max - b) + B * b) * s + x * b * (max - s) + sum / 2) / sum\n"
          "            alpha = (sum + max / 2) / max\n"
          "c are FILE's samples in the picture's depth, x the picture's; B is c, or with --blend "
          "W3C's blended colour of x and c, rounded half up; integers, divisions rounded down. "
          "Where "
          "sum is 0, x stays.",
      .edges = "Parts outside the picture are clipped.",
      .alpha = "The formula uses both alphas. A picture without alpha gets none.",
      .examples = {"in.jpg out.jpg --overlay logo.png --at southeast+20+20",
                   "photos/ web/ --resize 1600x --overlay logo.png --opacity 0.3",
                   "in.jpg out.jpg --overlay logo.png --at southeast+2%+2% --overlay-width 15%"},
      .sample_stages = sample_overlays,
      .from_options = overlay_from_options};
}

}  // namespace gpufilter
