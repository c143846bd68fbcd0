#include "app/cli/foreign_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>

#include "app/cli/command_words.hpp"
#include "app/help/help_layout.hpp"
#include "base/format.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/colour/color.hpp"

namespace gpufilter {
namespace {

struct ForeignWord {
  std::string_view names;  // separated by blanks; with '=', only if this value follows
  // What to write here instead, best first, separated by ';'. Options that the program does not
  // have are omitted.
  std::string_view ours;
  std::string_view otherwise = {};  // if it has none of them
};

constexpr std::string_view names_alone = "names need no option: gpufilter INPUT OUTPUT";

constexpr std::array foreign_options{
    ForeignWord{"i in input o out", "", names_alone},
    ForeignWord{"y force overwrite clobber", "--on-exists overwrite"},
    ForeignWord{"n no-clobber", "--on-exists skip"},
    ForeignWord{"f", "", "--on-exists overwrite replaces existing files, --to sets the format"},
    ForeignWord{"format to-format", "--to png|jpg"},
    ForeignWord{"jpg jpeg", "--to jpg"},
    ForeignWord{"png", "--to png"},
    ForeignWord{"Q q:v jpeg-quality compression-quality", "--quality N"},
    ForeignWord{"compress compression compression-level compression_level", "--png-level N"},
    ForeignWord{"interlace", "--progressive"},
    ForeignWord{"sampling-factor", "--subsampling 444|422|420"},
    ForeignWord{"strip", "--strip"},
    ForeignWord{"keep", "--keep exif,icc"},
    ForeignWord{"profile icc", "--profile FILE or --to-srgb"},
    ForeignWord{"srgb sRGB colorspace=sRGB", "--to-srgb"},
    ForeignWord{"intent render-intent rendering-intent", "--intent relative"},
    ForeignWord{"blur gaussian gaussian-blur gaussblur boxblur box-blur gblur adaptive-blur",
                "--gaussian SIGMA"},
    ForeignWord{"box boxfilter", "--blur auto"},
    ForeignWord{"sharpen unsharp adaptive-sharpen", "--sharpen AMOUNT"},
    ForeignWord{"median despeckle statistic rank", "--median RADIUS"},
    ForeignWord{"noise denoise nlmeans bilateral bilateral-blur selective-blur enhance kuwahara "
                "wavelet-denoise",
                "--denoise STRENGTH"},
    ForeignWord{"edge edges sobel canny", "--edges sobel"},
    ForeignWord{"scharr", "--edges scharr"},
    ForeignWord{"laplacian laplace", "--edges laplacian"},
    ForeignWord{"morphology", "--dilate RADIUS, --erode RADIUS, --open RADIUS or --close RADIUS"},
    ForeignWord{"dilate dilation morphology=Dilate", "--dilate RADIUS"},
    ForeignWord{"erode erosion morphology=Erode", "--erode RADIUS"},
    ForeignWord{"open opening morphology=Open", "--open RADIUS"},
    ForeignWord{"close closing morphology=Close", "--close RADIUS"},
    ForeignWord{"convolve conv", "--convolve MATRIX"},
    ForeignWord{"resize scale thumbnail geometry sample adaptive-resize size s", "--resize WxH"},
    ForeignWord{"upscale enlarge", "--resize 200%"},
    ForeignWord{"width", "--resize WIDTH"},
    ForeignWord{"height", "--resize xHEIGHT"},
    ForeignWord{"crop shave extract", "--crop WxH+X+Y"},
    ForeignWord{"trim autocrop", "--trim"},
    ForeignWord{"extent pad embed frame", "--pad WxH"},
    ForeignWord{"rotate", "--rotate 90"},
    ForeignWord{"warpaffine affine-transform", "--affine A,B,C,D,E,F"},
    ForeignWord{"distort warpperspective", "--perspective POINTS"},
    ForeignWord{"flip vflip", "--flip"},
    ForeignWord{"flop hflip mirror", "--flop"},
    ForeignWord{"auto-orient auto-rotate autorot autorotate exif-rotate", "--auto-orient"},
    ForeignWord{"composite overlay watermark", "--overlay FILE"},
    ForeignWord{"dissolve", "--opacity 0..1"},
    ForeignWord{"remove-alpha alpha-remove alpha=remove alpha=off", "--flatten COLOR"},
    ForeignWord{"depth", "--depth 8|16"},
    ForeignWord{"linearize linear-light colorspace=RGB", "--linear"},
    ForeignWord{"unlinear gamma-encode", "--encoded"},
    ForeignWord{"lut clut hald-clut haldclut lut3d", "--lut FILE"},
    ForeignWord{"modulate eq", "--color brightness=1.1, --color saturate=1.3 or --color hue=90"},
    ForeignWord{"brightness-contrast", "--brightness 1.1 --contrast 1.2"},
    ForeignWord{"saturation", "--color saturate=1.5"},
    ForeignWord{"sepia-tone", "--color sepia"},
    ForeignWord{"grey grayscale greyscale monochrome desaturate bw black-and-white colorspace",
                "--gray"},
    ForeignWord{"hue-rotate", "--hue DEGREES"},
    ForeignWord{"sigmoidal-contrast", "--contrast 1.25"},
    ForeignWord{"colorize duotone monochrome-color", "--tint COLOR"},
    ForeignWord{"separate extract-channel extract_band", "--channel r|g|b|a|luma"},
    ForeignWord{"swap-rb bgr rgb2bgr", "--swap bgr"},
    ForeignWord{"hist_local adaptive-equalize local-contrast", "--clahe 2"},
    ForeignWord{"compose blend-mode", "--overlay FILE --blend multiply"},
    ForeignWord{"threshold binarise otsu", "--binarize LEVEL"},
    ForeignWord{"posterize quantize", "--posterize N"},
    ForeignWord{"equalize equalise histogram-equalize", "--equalize"},
    ForeignWord{"exposure ev", "--exposure EV"},
    ForeignWord{"wb awb whitebalance temperature color-temperature kelvin",
                "--white-balance auto|KELVIN"},
    ForeignWord{"curve curves tone-curve", "--curve \"X,Y X,Y\""},
    ForeignWord{"negate negative inverse", "--invert"},
    ForeignWord{"color-matrix colormatrix recolor recomb", "--color \"a b c; d e f; g h i\""},
    ForeignWord{"level auto-level autolevel auto-levels auto-contrast autocontrast normalize "
                "normalise contrast-stretch linear-stretch",
                "--levels auto"},
    ForeignWord{"vf filter filter_complex filters", "",
                "each stage is an option of its own, such as --blur auto"},
    ForeignWord{"r R recurse", "--recursive"},
    ForeignWord{"j P parallel processes workers", "--jobs N"},
    ForeignWord{"t cores", "--threads N"},
    ForeignWord{"d gpu cuda opencl cpu", "--device auto|cpu|gpu|opencl"},
    ForeignWord{"l loglevel", "--log-level LEVEL"},
    ForeignWord{"silent hide_banner", "--quiet"},
    ForeignWord{"monitor", "--progress on"},
    ForeignWord{"limit memory", "--max-memory BYTES"},
    ForeignWord{"inplace replace overwrite_original", "--in-place"},
    ForeignWord{"outdir output-dir", "",
                "the folder for the results is the last name: INDIR OUTDIR"},
    ForeignWord{"include name", "--match GLOB"},
};

constexpr std::array foreign_commands{
    ForeignWord{"identify header vipsheader exif exiftool ffprobe", "gpufilter info FILE"},
    ForeignWord{"histogram statistics measure", "gpufilter stats FILE"},
    ForeignWord{"diff cmp difference psnr", "gpufilter compare A B"},
    ForeignWord{"benchmark benchmarks speed", "gpufilter bench WHAT"},
    ForeignWord{"device clinfo", "gpufilter devices"},
    ForeignWord{"check selftest self-test test", "gpufilter verify"},
    ForeignWord{"autotune", "gpufilter tune"},
    ForeignWord{"convert magick copy run filter", "gpufilter INPUT OUTPUT"},
    ForeignWord{"mogrify", "gpufilter INPUT... --in-place"},
};

bool lists(std::string_view words, std::string_view word) {
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

template <typename Table>
auto find_row(const Table& table, std::string_view name) {
  return std::find_if(table.begin(), table.end(),
                      [name](const auto& row) { return lists(row.names, name); });
}

std::string question(std::string_view ours) {
  return formatted("did you mean {}?", ours);
}

bool has_option(const Arguments& app, std::string_view name) {
  return app.find(std::string(name)) != nullptr;
}

bool is_amount(const std::string& value) {
  return !value.empty() && value.find_first_not_of("0123456789.") == std::string::npos;
}

// For "110,150,50": brightness, saturation and hue, where 100 changes nothing and 200 is the double
// or half a turn. Empty for other values.
std::string modulation(const std::string& value) {
  constexpr std::array settings{"--color brightness=", "--color saturate=", "--hue "};
  std::string ours;
  std::istringstream parts(value);
  std::string part;
  for (std::size_t i = 0; std::getline(parts, part, ','); ++i) {
    const auto percent = to_number(part);
    if (i == settings.size() || !percent) return "";
    if (*percent == 100) continue;
    const double amount = i == 2 ? (*percent - 100) * 9 / 5 : *percent / 100;
    ours += formatted("{}{}{}", ours.empty() ? "" : " ", settings.at(i), amount);
  }
  return ours;
}

// What to substitute for `form`, given an option's `value`; empty if nothing. "0x3", a radius and a
// sigma, gives 3 for SIGMA.
std::string said_by(const std::string& value, std::string_view form) {
  if (form == "SIGMA") {
    const std::size_t x = value.find('x');
    return x != std::string::npos && is_amount(value.substr(x + 1)) ? value.substr(x + 1) : "";
  }
  if (form == "RADIUS")
    return value.find('.') == std::string::npos && is_amount(value) ? value : "";
  if (form == "DEGREES") return is_amount(value) ? value : "";
  if (form == "WIDTH" || form == "xHEIGHT")
    return is_amount(value) ? (form == "WIDTH" ? "" : "x") + value : "";
  return form == "FILE" && !value.starts_with('-') ? value : "";
}

// "--color saturate=1.5" with the amount that was given, "--median RADIUS" with the radius. Advice
// with several settings is left unchanged.
std::string with_amount(std::string_view ours, const std::string& value) {
  const std::size_t blank = ours.rfind(' ');
  if (blank != std::string_view::npos && ours.find(' ') == blank) {
    const std::string said = said_by(value, ours.substr(blank + 1));
    if (!said.empty()) return formatted("{} {}", ours.substr(0, blank), said);
  }
  const std::size_t equals = ours.find('=');
  const bool has_one = equals != std::string_view::npos && equals == ours.rfind('=');
  if (!has_one || !is_amount(value)) return std::string(ours);
  return std::string(ours.substr(0, equals + 1)) + value;
}

std::string advice_of(const ForeignWord& row, const Arguments& app, const std::string& value = {}) {
  std::string_view rest = row.ours;
  while (!rest.empty()) {
    const std::string_view ours = rest.substr(0, rest.find(';'));
    if (has_option(app, ours.substr(0, ours.find(' ')))) return question(with_amount(ours, value));
    rest.remove_prefix(std::min(ours.size() + 1, rest.size()));
  }
  return std::string(row.otherwise);
}

// "--upscale 2" for --resize 200%
std::string enlargement(const std::string& factor) {
  const auto times = to_number(factor.substr(0, factor.find_first_of("xX")));
  return times && *times > 0 && *times <= 100 ? formatted("--resize {}%", *times * 100) : "";
}

// "--sepia 0.6" for --color sepia=0.6; empty if the name is not a preset.
std::string advice_for_preset(const std::string& name, const std::string& value) {
  const std::string preset = color_preset_example(name);
  if (preset.empty()) return "";
  return question("--color " + (is_amount(value) ? name + "=" + value : preset));
}

}  // namespace

std::string advice_for_option(const Arguments& app, const std::string& name,
                              const std::string& value) {
  if (const std::string ours = modulation(value); name == "modulate" && !ours.empty())
    return question(ours);
  if (const std::string ours = enlargement(value); name == "upscale" && !ours.empty())
    return question(ours);
  for (const std::string& words : {formatted("{}={}", name, value), name}) {
    if (const auto row = find_row(foreign_options, words); row != foreign_options.end())
      return advice_of(*row, app, value);
  }
  // "-q85" and "-j4"
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == 1 && name.find_first_not_of("0123456789", digits) == std::string::npos) {
    const std::string letter = name[0] == 'q' ? "Q" : name.substr(0, 1);
    const auto row = find_row(foreign_options, letter);
    if (row != foreign_options.end()) return advice_of(*row, app);
  }
  if (has_option(app, "--" + name)) {
    const Option& option = *app.find("--" + name);
    return question(!option.is_flag() && is_amount(value) ? formatted("--{} {}", name, value)
                                                          : option_head(option));
  }
  return advice_for_preset(name, value);
}

std::string advice_for_value(const std::string& option, const std::string& value) {
  const bool is_number = !value.empty() && value[0] >= '0' && value[0] <= '9';
  if (option == "--blur" && is_number) return "the blur is always 3x3; --gaussian SIGMA blurs more";
  if (option == "--threshold" && (value == "otsu" || (is_number && value.ends_with('%'))))
    return formatted("--binarize {} makes pixels black or white; --threshold goes with --sharpen",
                     value);
  // From -100 to 100, as sliders have it.
  const auto number = to_number(value);
  const bool is_factor = option == "--contrast" || option == "--brightness";
  if (is_factor && number && std::abs(*number) <= 100 && (*number <= 0 || *number > 10))
    return formatted("1 changes nothing; did you mean {} {}?", option,
                     std::max(1 + *number / 100, 0.1));
  return "";
}

std::string advice_for_command(const std::string& name) {
  const auto row = find_row(foreign_commands, name);
  return row == foreign_commands.end() ? "" : formatted("did you mean '{}'?", row->ours);
}

}  // namespace gpufilter
