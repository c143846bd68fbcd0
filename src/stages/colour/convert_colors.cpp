#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Profile = std::shared_ptr<const IccProfile>;  // nullptr: sRGB

const IccProfile& data_of(const Profile& profile) {
  return profile ? *profile : srgb_profile();
}

bool are_same(const Profile& a, const Profile& b) {
  return a == b || data_of(a).data == data_of(b).data;
}

std::string title_of(const Profile& profile) {
  if (!profile) return "sRGB";
  const std::string name = name_of(*profile);
  return name.empty() ? "its profile" : name;
}

// Red, green and blue of the same value.
template <typename Sample>
void spread_grey(const std::uint8_t* from, size_t width, bool alpha, std::uint8_t* to) {
  const auto* in = reinterpret_cast<const Sample*>(from);
  auto* out = reinterpret_cast<Sample*>(to);
  for (size_t x = 0; x < width; ++x) {
    for (int c = 0; c < 3; ++c)
      *out++ = *in;
    ++in;
    if (alpha) *out++ = *in++;
  }
}

const char* to_string(RenderingIntent intent) {
  static constexpr std::array names{"perceptual", "relative", "saturation", "absolute"};
  return names.at(static_cast<std::size_t>(intent));
}

const char* name_of(ProfileColors colors) {
  return colors == ProfileColors::grey ? "grey" : colors == ProfileColors::rgb ? "RGB" : "CMYK";
}

struct Conversion {
  Profile source;  // of the picture
  Profile target;
  ProfileUse use;
  std::string file;  // of the target; empty: --to-srgb
};

class ConvertColors final : public OneStepStage {
 public:
  explicit ConvertColors(Conversion conversion)
      : conversion_(std::move(conversion)),
        source_colors_(colors_of(data_of(conversion_.source))),
        target_colors_(colors_of(data_of(conversion_.target))) {}

  [[nodiscard]] std::string name() const override {
    return conversion_.file.empty() ? "to-srgb" : "profile";
  }
  [[nodiscard]] std::string label() const override {
    return formatted("{} to {}, Little CMS {}", title_of(conversion_.source),
                     title_of(conversion_.target), little_cms_version());
  }
  // The picture's profile is no part of what was requested.
  [[nodiscard]] std::string key() const override {
    ContentHasher hasher;
    hasher.add(data_of(conversion_.target).data);
    return formatted("profile {} {} {} {}", to_string(hasher.result()),
                     to_string(conversion_.use.intent), conversion_.use.black_point_compensation,
                     little_cms_version());
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    if (stays(input.format)) return input;
    const int colors = target_colors_ == ProfileColors::grey ? 1 : 3;
    return {input.size, {colors + (input.format.has_alpha() ? 1 : 0), input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    // Only the processor's figure is used: no device runs this step.
    return {{formatted("profile {}", input.depth), input.depth == 8 ? 10e-9 : 33e-9, 1e-9}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = stays(at.source.format),
            .processor_only = "Little CMS has no code for devices"};
  }

  [[nodiscard]] StageTraits traits() const override {
    return {.reads_metadata = true, .sets_profile = true, .needs_encoded = true};
  }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (!context.metadata) return {.steps = {shared_from_this()}, .profile = new_profile()};
    std::string warning;
    const auto step = for_profile_of(context, warning);
    return {.steps = {step},
            .title = step->title(),
            .warning = std::move(warning),
            .profile = step->new_profile()};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    const auto width = static_cast<size_t>(source.width);
    if (stays(source.format)) {
      copy_pixels(source, target);
      return;
    }
    const ProfileConversion& conversion = conversion_for(source.format);
    const bool spreads = spreads_grey(source.format);
    std::vector<std::uint8_t> spread;
    if (spreads) spread.resize(4 * width * source.format.bytes_per_sample());
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      if (spreads) {
        const auto make =
            source.format.depth == 8 ? spread_grey<std::uint8_t> : spread_grey<std::uint16_t>;
        make(source.row(y), width, source.format.has_alpha(), spread.data());
      }
      conversion.convert(spreads ? spread.data() : source.row(y), target.row(y), width);
    }
  }

  [[nodiscard]] const Conversion& conversion() const { return conversion_; }

 private:
  // The profile of the result; nullptr: the source's.
  [[nodiscard]] Profile new_profile() const {
    if (is_grey_srgb_) return nullptr;
    return conversion_.target ? conversion_.target : Profile(Profile(), &srgb_profile());
  }

  // An unusable profile is ignored, with a warning.
  [[nodiscard]] std::shared_ptr<const ConvertColors> for_profile_of(const PictureContext& context,
                                                                    std::string& warning) const {
    const PixelFormat& format = context.shape.format;
    try {
      return from(profile_of(*context.metadata, format), format);
    } catch (const UnusableProfile& error) {
      warning =
          formatted("--{}: the ICC profile {}; its colours count as sRGB", name(), error.what());
    }
    return from(nullptr, format);
  }

  // The conversion from this profile. Creating a conversion takes long, and the next picture often
  // has the same profile. Thread-safe. Throws UnusableProfile.
  [[nodiscard]] std::shared_ptr<const ConvertColors> from(const Profile& source,
                                                          const PixelFormat& format) const {
    {
      const std::lock_guard lock(mutex_);
      const Profile known = last_ ? last_->conversion_.source : nullptr;
      const bool is_known = last_ && last_->checked_for_ == format && !known == !source;
      if (is_known && are_same(known, source)) return last_;
    }
    Conversion own = conversion_;
    own.source = source;
    const auto made = std::make_shared<ConvertColors>(std::move(own));
    made->check(format);
    const std::lock_guard lock(mutex_);
    last_ = made;
    return made;
  }

  // Whether grey pixels have a profile for RGB, as in pictures without a profile and after --gray.
  [[nodiscard]] bool spreads_grey(const PixelFormat& input) const {
    return input.color_channels() == 1 && source_colors_ == ProfileColors::rgb;
  }

  // Grey pictures without a profile are shown as sRGB anyway.
  [[nodiscard]] bool stays(const PixelFormat& input) const {
    return are_same(conversion_.source, conversion_.target) &&
           (input.color_channels() == 3 || target_colors_ == ProfileColors::grey ||
            !conversion_.target);
  }

  // Before any pixel is decoded. Throws UnusableProfile.
  void check(const PixelFormat& input) {
    checked_for_ = input;
    is_grey_srgb_ =
        stays(input) && input.color_channels() == 1 && target_colors_ == ProfileColors::rgb;
    const bool is_grey = input.color_channels() == 1;
    if (source_colors_ == ProfileColors::cmyk ||
        (source_colors_ == ProfileColors::grey && !is_grey)) {
      throw UnusableProfile(formatted("is for {}, but the picture is {}", name_of(source_colors_),
                                      is_grey ? "grey" : "RGB"));
    }
    if (!stays(input)) static_cast<void>(conversion_for(input));
  }

  // Thread-safe.
  [[nodiscard]] const ProfileConversion& conversion_for(const PixelFormat& input) const {
    const std::lock_guard lock(mutex_);
    if (made_ && made_for_ == input) return *made_;
    const ProfilePixels source{source_colors_, input.has_alpha(), input.depth};
    const ProfilePixels target{target_colors_, input.has_alpha(), input.depth};
    made_.emplace(data_of(conversion_.source), source, data_of(conversion_.target), target,
                  conversion_.use);
    made_for_ = input;
    return *made_;
  }

  Conversion conversion_;
  ProfileColors source_colors_;
  ProfileColors target_colors_;
  bool is_grey_srgb_ = false;
  PixelFormat checked_for_{};
  mutable std::mutex mutex_;
  mutable std::optional<ProfileConversion> made_;
  mutable PixelFormat made_for_;
  mutable std::shared_ptr<const ConvertColors> last_;  // of from()
};

// From sRGB to a wide RGB and to grey: made from gamma and chromaticity.
std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> sample_conversions() {
  Metadata wide;
  wide.gamma = 55'556;
  wide.chromaticity = {31'270, 32'900, 68'000, 32'000, 26'500, 69'000, 15'000, 6'000};
  return {{"wide RGB", make_to_profile(*profile_of(wide, {3, 8}), {}, "wide RGB")},
          {"grey", make_to_profile(*profile_of(wide, {1, 8}), {}, "grey")}};
}

class InkByProfile final : public InkConversion {
 public:
  InkByProfile(const IccProfile& from, const InkSamples& samples, Profile to, const ProfileUse& use)
      : to_(std::move(to)),
        conversion_(from,
                    {.colors = ProfileColors::cmyk,
                     .depth = samples.depth,
                     .inverted_ink = samples.polarity == CmykPolarity::inverted},
                    data_of(to_), {.depth = samples.depth}, use) {}

  void to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t pixels) const override {
    conversion_.convert(cmyk, rgb, pixels);
  }
  [[nodiscard]] const IccProfile& result() const override { return data_of(to_); }

 private:
  Profile to_;
  ProfileConversion conversion_;
};

ProfileUse use_of(const OptionValues& values) {
  return {values.choice<RenderingIntent>("--intent"),
          values.choice<int>("--black-point-compensation") == 1};
}

// Makes a stage, and turns a missing library into a UsageError.
template <typename Make>
std::shared_ptr<const Stage> made(const std::string& option, const Make& make) {
  try {
    return make();
  } catch (const LibraryNotLoaded& error) {
    throw UsageError(formatted("{} {}", option, error.what()));
  }
}

std::shared_ptr<const Stage> profile_from_options(const OptionValues& values) {
  const InputFile& file = values.file("--profile");
  const std::string& path = file.name;
  const std::string bytes = read_stage_bytes(file);
  constexpr size_t signature_at = 36;
  if (bytes.size() < signature_at || bytes.compare(signature_at, 4, "acsp") != 0)
    throw UsageError(formatted("{}: not an ICC profile", path));
  IccProfile profile;
  profile.data.assign(bytes.begin(), bytes.end());
  return made("--profile", [&] {
    try {
      const std::string title = name_of(profile);
      if (!title.empty()) profile.name = title;
      return make_to_profile(std::move(profile), use_of(values),
                             std::filesystem::path(path).filename());
    } catch (const UnusableProfile& error) {
      throw UsageError(formatted("{}: the ICC profile {}", path, error.what()));
    }
  });
}

std::vector<StageParameter> conversion_parameters() {
  return {{.option = "--intent",
           .type = OneOf{{{"perceptual", RenderingIntent::perceptual,
                           "all colours are compressed into the target's gamut"},
                          {"relative", RenderingIntent::relative,
                           "colours in the target's gamut stay, others become the nearest"},
                          {"saturation", RenderingIntent::saturation, "colours stay vivid"},
                          {"absolute", RenderingIntent::absolute,
                           "as relative, but the source's white stays"}},
                         "INTENT"},
           .default_value = "relative",
           .help = "How colours outside the target's gamut are mapped."},
          {.option = "--black-point-compensation",
           .type = OneOf{{{"on", 1, "the source's darkest black becomes the target's"},
                          {"off", 0, "blacks outside the target's gamut are clipped"}}},
           .default_value = "on",
           .help = "How blacks are matched, with all intents but absolute."}};
}

constexpr const char* conversion_formula =
    "Little CMS converts: the result equals its program tificc's with the same profiles, intent "
    "and black point compensation. Another version of the library may round differently.";

}  // namespace

std::shared_ptr<const Stage> make_to_srgb(const ProfileUse& use) {
  return std::make_shared<ConvertColors>(Conversion{nullptr, nullptr, use, {}});
}

std::shared_ptr<const Stage> make_to_profile(IccProfile profile, const ProfileUse& use,
                                             std::string label) {
  if (colors_of(profile) == ProfileColors::cmyk)
    throw UnusableProfile("is for CMYK; results are grey or RGB");
  return std::make_shared<ConvertColors>(
      Conversion{nullptr, std::make_shared<IccProfile>(std::move(profile)), use, std::move(label)});
}

ChooseInk ink_choice(const StageChain& chain) {
  for (const auto& stage : chain) {
    const auto* convert = dynamic_cast<const ConvertColors*>(stage.get());
    if (convert == nullptr) continue;
    const Conversion& conversion = convert->conversion();
    // A stage to grey gets sRGB.
    const bool is_rgb = colors_of(data_of(conversion.target)) == ProfileColors::rgb;
    return [target = is_rgb ? conversion.target : nullptr, use = conversion.use](
               const IccProfile& profile, const InkSamples& samples) {
      if (const ProfileColors colors = colors_of(profile); colors != ProfileColors::cmyk)
        throw UnusableProfile(formatted("is for {}, but the picture is CMYK", name_of(colors)));
      return std::make_shared<InkByProfile>(profile, samples, target, use);
    };
  }
  return {};
}

StageKind to_srgb_stage_kind() {
  return {.option = "--to-srgb",
          .type = NoValue{},
          .help =
              "Convert to sRGB. Colours are converted from the picture's ICC profile, or from the "
              "colour space that a PNG, AVIF or HEIC names, and the result has the sRGB profile. "
              "Pictures without a profile count as sRGB and do not change.",
          .parameters = conversion_parameters(),
          .formula = conversion_formula,
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Is copied.",
          .examples = {"in.jpg out.jpg --to-srgb", "photos/ web/ --resize 1600x --to-srgb"},
          .from_options = [](const OptionValues& values) {
            return made("--to-srgb", [&] { return make_to_srgb(use_of(values)); });
          }};
}

StageKind profile_stage_kind() {
  return {
      .option = "--profile",
      .type = FileName{".icc"},
      .help =
          "Convert to an ICC profile. FILE is a grey or RGB profile, which the result gets. "
          "Colours are converted from the picture's profile; pictures without one count as sRGB.",
      .parameters = conversion_parameters(),
      .formula = conversion_formula,
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Is copied.",
      .examples = {"in.jpg out.jpg --profile display.icc",
                   "in.jpg out.tif --profile display.icc --intent perceptual"},
      .sample_stages = sample_conversions,
      .from_options = profile_from_options};
}

}  // namespace gpufilter
