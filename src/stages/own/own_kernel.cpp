#include "stages/own/own_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/border.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/lowering.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/window/blur.hpp"
#include "stages/window/window_stages.hpp"

namespace gpufilter {
namespace {

// The text with comments replaced by blanks, so that positions in it stay the same.
std::string without_comments(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const std::string_view mark = std::string_view(text).substr(i, 2);
    if (mark != "//" && mark != "/*") continue;
    std::size_t end = mark == "//" ? text.find('\n', i) : text.find("*/", i + 2);
    end = end == std::string::npos ? text.size() : end + (mark == "//" ? 0 : 2);
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(i),
              text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
  return text;
}

// Whether the parameters match own_picture_parameters, whatever their names.
bool are_of_picture(const std::string& parameters) {
  static const std::regex form(
      R"(\s*(const\s+)?(__)?global\s+(const\s+)?uchar4\s*(const\s*)?\*[^,]*,\s*(__)?global\s+uchar4\s*\*[^,]*,)"
      R"(\s*(const\s+)?int\s+\w+\s*,\s*(const\s+)?int\s+\w+\s*)");
  return std::regex_match(parameters, form);
}

// How the macros "A=1 B=2" say that a kernel is launched.
RowKernel launch_of(const std::string& defines, bool over_rows) {
  static const std::regex form(R"(([A-Za-z_]\w*)(?:=(\S+))?)");
  std::map<std::string, std::string> macros{{"GROUP_WIDTH", "16"}, {"GROUP_HEIGHT", "16"}};
  if (over_rows) macros.insert({{"PIXELS", "1"}, {"LINES", "1"}});
  std::istringstream words(defines);
  for (std::string word; words >> word;) {
    std::smatch parts;
    if (!std::regex_match(word, parts, form))
      throw UsageError(formatted("--define {}: is not of the form NAME=VALUE", printable(word)));
    macros[parts[1]] = parts[2].matched ? parts[2].str() : "1";
  }
  const auto number = [&](const std::string& name) {
    const double value = to_number(macros[name]).value_or(0);
    if (value < 1 || value > 1024 || value != std::floor(value)) {
      throw UsageError(
          formatted("--define {}={}: is a whole number from 1 to 1024", name, macros[name]));
    }
    return static_cast<std::size_t>(value);
  };
  RowKernel launch{.pixels = over_rows ? number("PIXELS") : 1,
                   .lines = over_rows ? number("LINES") : 1,
                   .group_width = number("GROUP_WIDTH"),
                   .group_height = number("GROUP_HEIGHT"),
                   .reason = "requested"};
  for (const auto& [name, value] : macros)
    launch.macros += formatted(" -D {}={}", name, value);
  return launch;
}

// A kernel over uchar4: the rows of a band are a picture to it.
class OwnPicturePass final : public DevicePass {
 public:
  OwnPicturePass(Session& session, const PictureShape& shape, Kernel kernel,
                 const RowKernel& launch)
      : session_(session),
        shape_(shape),
        range_{0, 0, launch.group_width, launch.group_height},
        unpack_(converter("rows_to_rgba")),
        kernel_(std::move(kernel)),
        pack_(converter("rgba_to_rows")),
        description_{launch.variant, launch.reason, kernel_.origin(), kernel_.source()} {}

  [[nodiscard]] const CodeDescription& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    const std::int32_t width = shape_.size.width;
    const std::int32_t pitch = pitch_in_samples(width, shape_.format);
    const std::int32_t read = source.rows.count();
    const std::int32_t written = target.rows.count();
    const std::int32_t skipped = target.rows.begin - source.rows.begin;
    // A kernel that forgets the last groups' work-items beyond the picture has some room.
    const std::size_t bytes = std::size_t{4} * static_cast<std::size_t>(width) *
                              (static_cast<std::size_t>(read) + range_.group_height + 1);
    for (Buffer& picture : pictures_) {
      if (picture.size() < bytes) picture = session_.allocate(bytes);
    }
    const auto launch = [&](const Kernel& kernel, int height, WorkRange range,
                            const auto&... arguments) {
      range.width = static_cast<std::size_t>(width);
      range.height = static_cast<std::size_t>(height);
      return queue.launch(kernel, range, {KernelArgument(arguments)...});
    };
    constexpr WorkRange along{0, 0, 64, 1};
    return {launch(unpack_, read, along, *source.buffer, pitch, pictures_[0], width, read),
            launch(kernel_, read, range_, pictures_[0], pictures_[1], width, read),
            launch(pack_, written, along, pictures_[1], skipped, *target.buffer, pitch,
                   target.offset, width, written)};
  }

 private:
  [[nodiscard]] Kernel converter(const std::string& function) {
    return session_.make_kernel(
        {.file = "own_picture.cl", .function = function, .options = format_macros(shape_.format)});
  }

  Session& session_;
  PictureShape shape_;
  WorkRange range_;
  Kernel unpack_;
  Kernel kernel_;
  Kernel pack_;
  std::array<Buffer, 2> pictures_;
  CodeDescription description_;
};

class OwnKernel final : public OneStepStage {
 public:
  explicit OwnKernel(const OwnKernelParameters& parameters)
      : parameters_(parameters),
        launch_(launch_of(parameters.defines, parameters.source.over_rows)) {
    launch_.variant = formatted("{} {}x{}", parameters_.source.function, launch_.group_width,
                                launch_.group_height);
  }

  // The processor's steps are those of the stage that has the same result.
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    if (!parameters_.like) return OneStepStage::lower(context);
    const auto step = std::make_shared<OwnKernel>(*this);
    step->like_ = parameters_.like->lower({.shape = context.shape}).steps;
    return {.steps = {step}, .steps_on = [step](const DeviceInfo* device) {
              return device != nullptr ? Steps{step} : step->like_;
            }};
  }

  [[nodiscard]] std::string name() const override { return "kernel"; }
  [[nodiscard]] std::string label() const override { return file(); }
  [[nodiscard]] std::string key() const override {
    return formatted("kernel {} {} {} {}", to_string(content_hash(parameters_.source.text)),
                     parameters_.defines, parameters_.radius, parameters_.whole);
  }
  [[nodiscard]] StageTraits traits() const override {
    return {.names_kernel = true, .needs_opencl = true};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"own kernel", 4e-9, 50e-12}, 1};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    if (input.format.depth != 8 && !parameters_.source.over_rows) {
      throw UsageError(formatted(
          "--kernel {}: uchar4 holds samples of 8 bits, and the picture has 16; put --depth 8 "
          "before it",
          file()));
    }
    return input;
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    if (parameters_.whole) return {0, source.height};
    const RowRange own = border_rows(Border::replicate, target, parameters_.radius, source.height);
    RowRange like = target;
    for (auto step = like_.rbegin(); step != like_.rend(); ++step)
      like = (*step)->source_rows(like, source);
    return {std::min(own.begin, like.begin), std::max(own.end, like.end)};
  }

  void run(const ConstRows& /*source*/, const MutableRows& /*target*/,
           const StageSizes& /*sizes*/) const override {
    throw UsageError(formatted(
        "--kernel {}: the processor has nothing to compare it with; name a stage with the same "
        "result, such as --like blur",
        file()));
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    const OwnSource& source = parameters_.source;
    Kernel kernel = build_own_kernel(
        session, source, (source.over_rows ? format_macros(input.format) : "") + launch_.macros,
        launch_.group_width, launch_.group_height);
    if (source.over_rows)
      return std::make_unique<RowLaunch>(std::move(kernel), launch_, input, input);
    return std::make_unique<OwnPicturePass>(session, input, std::move(kernel), launch_);
  }

 private:
  [[nodiscard]] std::string file() const {
    return std::filesystem::path(parameters_.source.file).filename();
  }

  OwnKernelParameters parameters_;
  RowKernel launch_;
  Steps like_;  // none: unknown
};

constexpr const char* unset = "none";

// The stage that the text names: "blur", "median 2", "blur auto --border wrap".
std::shared_ptr<const Stage> stage_like(const std::string& text) {
  if (text == unset) return nullptr;
  const std::string name = text.substr(0, text.find(' '));
  const StageKind* kind = find_stage("--" + name);
  if (kind == nullptr || name == "kernel")
    throw UsageError(formatted("--like {}: '{}' is not a stage", printable(text), printable(name)));
  const std::size_t options = std::min(text.find(" --"), text.size());
  std::string value = text.substr(name.size(), options - name.size());
  value.erase(0, value.find_first_not_of(' '));
  const std::vector<std::string> known = value_words(kind->type);
  if (value.empty() && !known.empty())
    value = std::ranges::find(known, "auto") != known.end() ? "auto" : known.front();
  GivenParameters parameters;
  std::istringstream words(text.substr(options));
  for (std::string option, word; words >> option >> word;)
    parameters[option] = word;
  auto stage = kind->make(value, parameters);
  constexpr PictureShape any{{64, 64}, {3, 8}};
  const LoweredChain chain = lower_chain({stage}, {.shape = any});
  if (!chain.empty() && !chain.front().steps.empty() && output_of(chain, any) == any) return stage;
  throw UsageError(formatted(
      "--like {}: compare with a stage that keeps the picture's shape and needs no more than a "
      "part of it, such as blur",
      name));
}

// Throws UsageError if the kernel accesses memory wrongly.
void check_accesses(const OwnSource& source, const RowKernel& launch) {
  const std::string option = formatted("--kernel {} --check", source.file);
  if (source.over_rows)
    throw UsageError(formatted("{}: is for kernels over uchar4, not over ROWS", option));
  constexpr std::int32_t width = 500, height = 333;  // no multiples of usual groups
  constexpr std::size_t bytes = std::size_t{4} * width * height;
  const auto wrong = wrong_access(
      source, launch.macros,
      {{width, height, launch.group_width, launch.group_height}, {bytes, bytes}, {width, height}});
  if (!wrong) throw UsageError(formatted("{}: {}", option, how_to_get_oclgrind));
  if (!wrong->empty()) throw UsageError(*wrong);
}

std::shared_ptr<const Stage> own_kernel_from_options(const OptionValues& values) {
  const InputFile& file = values.file("--kernel");
  const std::string& path = file.name;
  const std::string& defines = values.text("--define");
  OwnKernelParameters parameters{
      own_source(path, read_small_text(file, "an OpenCL kernel")), values.number<int>("--radius"),
      values.is_set("--whole"), defines == unset ? "" : defines, stage_like(values.text("--like"))};
  if (!parameters.source.over_rows && !parameters.source.over_picture) {
    throw UsageError(formatted("{}: {} has other parameters than ROWS or {}", path,
                               parameters.source.function, own_picture_parameters));
  }
  if (values.is_set("--check"))
    check_accesses(parameters.source, launch_of(parameters.defines, false));
  return make_own_kernel(parameters);
}

constexpr const char* sample_text = R"(__kernel void mean(ROWS) {
  const int x = get_global_id(0), y = OWN_ROW;
  if (x >= width || y >= TARGET_END) return;
  pixel_t result;
  for (int c = 0; c < CHANNELS; ++c) {
    uint sum = 4;
    for (int i = 0; i < 9; ++i)
      sum += border_pixel(source, source_pitch, source_first, x + i % 3 - 1, y + i / 3 - 1, width,
                          height).at[c];
    result.at[c] = (sample_t)(sum / 9);
  }
  store_pixel(TARGET_ROW(y), x, result);
}
)";

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> sample_kernels() {
  const auto like = make_blur({.alpha = AlphaMode::independent});
  const OwnSource source = own_source("mean.cl", sample_text);
  return {{"mean.cl --like blur", make_own_kernel({source, 1, false, "", like})},
          {"mean.cl --like blur --whole", make_own_kernel({source, 1, true, "", like})}};
}

}  // namespace

OwnSource own_source(const std::string& file, const std::string& text) {
  static const std::regex form(
      R"(\b(?:__)?kernel\s+(?:__attribute__\s*\(\([^;{]*?\)\)\s*)?void\s+(?:__attribute__\s*\(\([^;{]*?\)\)\s*)?(\w+)\s*\(([^){]*)\)\s*\{)");
  const std::string code = without_comments(text);
  std::smatch found;
  if (!std::regex_search(code, found, form))
    throw UsageError(
        formatted("{}: has no kernel of the form __kernel void NAME(...) {{...}}", file));
  const std::string parameters = found[2];
  static const std::regex rows(R"(\s*ROWS\s*)");
  std::string shown_name = file;
  std::erase_if(shown_name, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
  return {.file = file,
          .text = formatted("#line 1 \"{}\"\n{}", shown_name, text),
          .function = found[1],
          .over_rows = std::regex_match(parameters, rows),
          .parameters = static_cast<std::size_t>(std::ranges::count(parameters, ',')) + 1,
          .over_picture = are_of_picture(parameters)};
}

Kernel build_own_kernel(Session& session, const OwnSource& source, const std::string& options,
                        std::size_t group_width, std::size_t group_height) {
  try {
    Kernel kernel = session.make_kernel({.file = source.file,
                                         .function = source.function,
                                         .options = options,
                                         .text = source.text,
                                         .alone = !source.over_rows});
    const std::size_t group = group_width * group_height;
    const KernelLimits& limits = kernel.limits();
    const std::size_t states = limits.stated_group;
    const std::size_t most = limits.max_work_group;
    if ((states == 0 || states == group) && (most == 0 || group <= most)) return kernel;
    throw UsageError(formatted(
        "{}: {} is for groups of {} work-items and gets {}x{} (GROUP_WIDTH and GROUP_HEIGHT)",
        source.file, source.function,
        states != 0 ? formatted("{}", states) : formatted("at most {}", most), group_width,
        group_height));
  } catch (const DeviceError& error) {
    throw UsageError(error.what());
  }
}

std::shared_ptr<const Stage> make_own_kernel(const OwnKernelParameters& parameters) {
  return std::make_shared<OwnKernel>(parameters);
}

StageKind kernel_stage_kind() {
  return {
      .option = "--kernel",
      .type = FileName{".cl"},
      .help =
          "Run an OpenCL kernel of your own. FILE.cl has a kernel with the parameters ROWS, as "
          "those in samples/broken, or (__global const uchar4 *in, __global uchar4 *out, int "
          "width, int "
          "height). It runs on OpenCL devices only. Other values are those of --resize.",
      .parameters =
          {{.option = "--radius",
            .type = NumberIn{1, DenoiseParameters::max_radius, true},
            .default_value = "1",
            .help = "Radius of the window, in pixels."},
           {.option = "--whole",
            .type = NoValue{},
            .default_value = "",
            .help = "Give the kernel the whole picture instead of bands: it reads farther than "
                    "--radius, or its result depends on the pixel's position."},
           {.option = "--check",
            .type = NoValue{},
            .default_value = "",
            .help = "First run a kernel over uchar4 under Oclgrind: accesses outside the picture, "
                    "and races, are errors."},
           {.option = "--define",
            .type = FreeText{"NAME=VALUE",
                             {{"NAME=VALUE",
                               "may be repeated; GROUP_WIDTH and GROUP_HEIGHT, 16 "
                               "unless given, set the size of work-groups"}}},
            .default_value = unset,
            .help = "Compile the kernel with this macro.",
            .repeats = true},
           {.option = "--like",
            .type = FreeText{"STAGE", {{"STAGE", "such as blur, or \"median 2\""}}},
            .default_value = unset,
            .help = "The stage whose result --verify compares the kernel's with."}},
      .formula =
          "Each result is what the kernel stores. A kernel over uchar4 gets a grey sample as red, "
          "green and blue, and a missing alpha as 255; of its results, only the picture's channels "
          "are kept.",
      .edges =
          "A kernel over uchar4 decides itself: neighbours beyond 0, width - 1 and height - 1 are "
          "outside. ROWS has border_pixel(), which repeats the nearest pixel. Large pictures are "
          "filtered in bands with --radius more rows on each side, and width and height are the "
          "band's.",
      .alpha = "Alpha is a channel like the others; the kernel decides what becomes of it.",
      .examples = {"in.png out.png --kernel samples/course/naive-blur.cl",
                   "in.png out.png --kernel samples/course/tiled-blur.cl --like blur --verify"},
      .sample_stages = sample_kernels,
      .from_options = own_kernel_from_options};
}

}  // namespace gpufilter
