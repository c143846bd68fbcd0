#include "lab/learn/lessons.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/timeline.hpp"
#include "device/kernel_figures.hpp"
#include "device/session.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/plan/plan.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/own/own_kernel.hpp"

namespace gpufilter::lab {
namespace {

// ---- What the exercises compute: inputs and results, of elements of 32 bits ----

using Words = std::vector<std::uint32_t>;

enum class ElementKind { pixel, number, real };  // four bytes, a whole number, a float

// A kernel gets the inputs, the output and the numbers, in this order.
struct Exercise {
  ElementKind kind = ElementKind::number;
  std::vector<Words> inputs = {};
  Words expected = {};
  std::vector<std::int32_t> numbers = {};
  WorkRange range = {};
  int columns = 0;           // of a picture or matrix; 0: the elements are in one row
  std::string options = {};  // for the compiler
  StageChain stages = {};    // that do the same to the picture
  std::string stages_text = {};
  // A lesson's kernel that does the same without the lesson's idea, and its numbers.
  std::string plain_file = {};
  std::vector<std::int32_t> plain_numbers = {};
};

// From `low` to `high`, the same in each run.
std::vector<int> draw(std::size_t count, int low, int high) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<int> numbers(count);
  for (int& number : numbers)
    number = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  return numbers;
}

Words as_floats(const std::vector<int>& numbers) {
  Words words;
  for (const int number : numbers)
    words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
  return words;
}

Words as_words(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

WorkRange along(int count, std::size_t group) {
  return {static_cast<std::size_t>(count), 1, group, 1};
}

Exercise scale_and_add() {
  constexpr int count = 100'003;
  const std::vector<int> a = draw(count, -1000, 1000), b = draw(count, 0, 9);
  std::vector<int> results;
  for (std::size_t i = 0; i < count; ++i)
    results.push_back(2 * a[i] + b[i]);
  return {.kind = ElementKind::real,
          .inputs = {as_floats(a), as_floats(b)},
          .expected = as_floats(results),
          .numbers = {count},
          .range = along(count, 64)};
}

Exercise turn_groups() {
  constexpr int count = 4096, group = 16;
  std::vector<int> numbers = draw(count, 0, 1'000'000);
  Exercise exercise{
      .inputs = {as_words(numbers)}, .numbers = {count}, .range = along(count, group)};
  for (auto begin = numbers.begin(); begin != numbers.end(); begin += group)
    std::reverse(begin, begin + group);
  exercise.expected = as_words(numbers);
  return exercise;
}

Exercise product() {
  constexpr int side = 128;
  constexpr std::size_t count = side * side;
  const std::vector<int> a = draw(count, -8, 8), b = draw(count + 1, -8, 8);
  std::vector<int> c;
  for (std::size_t i = 0; i < count; ++i) {
    int sum = 0;
    for (std::size_t k = 0; k < side; ++k)
      sum += a[i / side * side + k] * b[k * side + i % side];
    c.push_back(std::max(sum, 0));
  }
  return {.kind = ElementKind::real,
          .inputs = {as_floats(a), as_floats({b.begin(), b.end() - 1})},
          .expected = as_floats(c),
          .numbers = {side},
          .range = {side, side, 16, 16},
          .columns = side,
          .options = "-D RELU",
          .plain_file = "matrix-product.cl",
          .plain_numbers = {side, side, side}};
}

Exercise largest() {
  constexpr int count = 100'000, group = 256;
  const std::vector<int> numbers = draw(count, 0, 1'000'000);
  std::vector<int> maxima;
  for (int first = 0; first < count; first += group) {
    maxima.push_back(*std::max_element(numbers.begin() + first,
                                       numbers.begin() + std::min(first + group, count)));
  }
  return {.inputs = {as_words(numbers)},
          .expected = as_words(maxima),
          .numbers = {count},
          .range = along(count, group)};
}

Words words_of(const ConstRows& rows) {
  Words words(static_cast<std::size_t>(rows.width) * static_cast<std::size_t>(rows.rows.count()));
  for (int y = 0; y < rows.rows.count(); ++y) {
    const auto width = static_cast<std::size_t>(rows.width);
    std::memcpy(&words[static_cast<std::size_t>(y) * width], rows.row(y), 4 * width);
  }
  return words;
}

// The work of a stage on an opaque picture whose sides are no multiples of a group's.
Exercise picture_exercise(const std::string& option, const std::string& value) {
  constexpr PictureShape shape{{500, 333}, {4, 8}};
  Image picture(shape.size, shape.format);
  std::mt19937 random(7);
  for (int y = 0; y < shape.size.height; ++y) {
    for (int i = 0; i < 4 * shape.size.width; ++i)
      picture.rows().row(y)[i] = static_cast<std::uint8_t>(i % 4 == 3 ? 255 : random() % 256);
  }
  const StageChain stages{find_stage(option)->make(value)};
  const Plan plan = baseline_plan(shape, lower_chain(stages, {.shape = shape}));
  const Image result = baseline_rows(plan, std::as_const(picture).rows(), {0, shape.size.height});
  return {.kind = ElementKind::pixel,
          .inputs = {words_of(std::as_const(picture).rows())},
          .expected = words_of(result.rows()),
          .numbers = {shape.size.width, shape.size.height},
          .range = {static_cast<std::size_t>(shape.size.width),
                    static_cast<std::size_t>(shape.size.height), 16, 16},
          .columns = shape.size.width,
          .stages = stages,
          .stages_text = value.empty() ? option : option + " " + value};
}

Exercise tiled_blur() {
  Exercise exercise = picture_exercise("--blur", "auto");
  exercise.plain_file = "naive-blur.cl";
  exercise.plain_numbers = exercise.numbers;
  return exercise;
}

Exercise wide_blur() {
  Exercise exercise =
      picture_exercise("--convolve", "1 1 1 1 1; 1 1 1 1 1; 1 1 1 1 1; 1 1 1 1 1; 1 1 1 1 1");
  exercise.stages_text = "--convolve 5x5";
  exercise.options = "-D RADIUS=2";
  return exercise;
}

// Of the exercise of this name.
Exercise exercise_of(const std::string& lesson) {
  static const std::map<std::string, std::function<Exercise()>> all{
      {"hello", scale_and_add},
      {"groups", turn_groups},
      {"invert", [] { return picture_exercise("--flop", ""); }},
      {"naive-blur", [] { return picture_exercise("--dilate", "1"); }},
      {"tiled-blur", tiled_blur},
      {"matrix-product", product},
      {"reduction", largest},
      {"constants", wide_blur}};
  return all.at(lesson)();
}

// ---- Running and judging ----

// What the output holds before a kernel runs: no exercise has such a result.
constexpr std::uint32_t poison = 0xa5a5a5a5;

struct Ran {
  Words output;
  bool repeats = true;                                  // each run gave the same
  double ms = std::numeric_limits<double>::infinity();  // the shortest
  std::string resources;
};

Ran run(Session& session, const OwnSource& source, const Exercise& exercise,
        const std::vector<std::int32_t>& numbers) {
  constexpr std::size_t slack = std::size_t{1}
                                << 20U;  // a wrong kernel may write behind its output
  constexpr int trials = 4;              // the first may still compile
  static_cast<void>(take_made_kernels());
  const std::size_t expected = exercise.inputs.size() + 1 + numbers.size();
  if (source.parameters != expected) {
    throw UsageError(formatted("{}: {} has {} parameters, the exercise's kernel {}", source.file,
                               source.function, source.parameters, expected));
  }
  const WorkRange& range = exercise.range;
  const Kernel kernel =
      build_own_kernel(session, source, exercise.options, range.group_width, range.group_height);
  Ran ran;
  if (const auto made = take_made_kernels(); !made.empty()) ran.resources = to_string(made.back());
  Queue queue = session.make_queue();
  std::vector<Buffer> buffers;
  for (const Words& input : exercise.inputs) {
    buffers.push_back(session.allocate(4 * input.size() + slack));
    queue.upload(buffers.back(), input.data(), 4 * input.size());
  }
  const std::size_t bytes = 4 * exercise.expected.size();
  buffers.push_back(session.allocate(bytes + slack));
  std::vector<KernelArgument> arguments(buffers.begin(), buffers.end());
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  const Words poisoned(exercise.expected.size(), poison);
  for (int i = 0; i < trials; ++i) {
    queue.upload(buffers.back(), poisoned.data(), bytes);
    const Event event = queue.launch(kernel, range, arguments);
    Words output(exercise.expected.size());
    queue.download(buffers.back(), output.data(), bytes);
    queue.finish();
    ran.ms = std::min(ran.ms, milliseconds(event.times().duration));
    ran.repeats = ran.repeats && (i == 0 || output == ran.output);
    ran.output = std::move(output);
  }
  return ran;
}

// The kernels of the stages, on the same picture.
double stage_ms(Session& session, const Exercise& exercise) {
  const PictureShape shape{{exercise.columns, exercise.numbers.at(1)}, {4, 8}};
  const Plan plan = make_plan(
      shape, exercise.stages,
      {.target_buffer = std::numeric_limits<std::uint64_t>::max(), .device = &session.device()});
  Image source(shape.size, shape.format), target(shape.size, shape.format);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    Timeline timeline;
    const auto executor = make_device_executor(plan, session, timeline, true, nullptr);
    executor->run(std::as_const(source).rows(), target.rows());
    Nanoseconds sum = 0;
    for (const Span& span : timeline.spans())
      sum += span.activity == Activity::kernel ? span.duration : 0;
    best = std::min(best, milliseconds(sum));
  }
  return best;
}

std::string shown_element(ElementKind kind, std::uint32_t word) {
  if (word == poison) return "nothing";
  if (kind == ElementKind::real) return formatted("{}", std::bit_cast<float>(word));
  if (kind == ElementKind::number) return formatted("{}", static_cast<std::int32_t>(word));
  return formatted("({}, {}, {}, {})", word & 255U, word >> 8U & 255U, word >> 16U & 255U,
                   word >> 24U);
}

// The result of a kernel beside the right one.
class Differences {
 public:
  Differences(const Exercise& exercise, const Ran& ran, const std::string& text)
      : exercise_(exercise), ran_(ran), text_(text), columns_(exercise.columns) {
    for (std::size_t i = 0; i < exercise.expected.size(); ++i) {
      if (ran.output[i] != exercise.expected[i]) wrong_.push_back(i);
    }
  }

  [[nodiscard]] std::size_t count() const { return wrong_.size(); }

  [[nodiscard]] std::string first() const {
    if (wrong_.empty()) return "";
    const std::size_t i = wrong_.front();
    const auto place = static_cast<int>(i);
    const std::string where =
        columns_ == 0 ? formatted("number {}", i)
                      : formatted("row {}, column {}", place / columns_, place % columns_);
    return formatted("{}: {} instead of {}", where, shown_element(exercise_.kind, ran_.output[i]),
                     shown_element(exercise_.kind, exercise_.expected[i]));
  }

  // What most often looks like that.
  [[nodiscard]] std::string likely() const {
    if (wrong_.empty()) return "";
    const bool waits = text_.find("barrier(") != std::string::npos;
    const bool shares = text_.find("__local") != std::string::npos;
    const std::pair<bool, const char*> mistakes[]{
        {ran_.output == exercise_.inputs.front(),
         "the result is the input: nothing is computed yet"},
        {all([this](std::size_t i) { return ran_.output[i] == poison; }),
         "work-items return or stop before they store: look at the conditions and indices"},
        {!ran_.repeats, "a second run differs: work-items do not wait for each other (barrier)"},
        {shares && !waits, "there is no barrier between writing local memory and reading it"},
        {all([this](std::size_t i) { return at_edge(i); }),
         "the edge: neighbours outside the picture are not the nearest pixels inside"},
        {tiles() && all([this](std::size_t i) { return at_seam(column(i)) && at_seam(row(i)); }),
         "the corners of the halo are not fetched"},
        {tiles() && all([this](std::size_t i) { return at_seam(column(i)); }),
         "the halo's columns are not fetched"},
        {tiles() && all([this](std::size_t i) { return at_seam(row(i)); }),
         "the halo's rows are not fetched"},
        {all([this](std::size_t i) { return differs_only(i, 3, 256); }),
         "alpha, the fourth channel, is treated differently"},
        {all([this](std::size_t i) { return differs_only(i, -1, 2); }),
         "rounding: the mean is not rounded to the nearest"},
        {all([this](std::size_t i) { return is_negative(i); }),
         "ReLU is missing: negative sums become 0"}};
    const auto* found = std::find_if(std::begin(mistakes), std::end(mistakes),
                                     [](const auto& mistake) { return mistake.first; });
    return found == std::end(mistakes) ? "" : found->second;
  }

 private:
  template <typename Condition>
  [[nodiscard]] bool all(const Condition& condition) const {
    return std::all_of(wrong_.begin(), wrong_.end(), condition);
  }
  [[nodiscard]] bool is_picture() const { return exercise_.kind == ElementKind::pixel; }
  [[nodiscard]] bool tiles() const {
    return is_picture() && text_.find("__local") != std::string::npos;
  }
  [[nodiscard]] int column(std::size_t i) const { return static_cast<int>(i) % columns_; }
  [[nodiscard]] int row(std::size_t i) const { return static_cast<int>(i) / columns_; }
  [[nodiscard]] static bool at_seam(int place) { return place % 16 == 0 || place % 16 == 15; }
  [[nodiscard]] bool at_edge(std::size_t i) const {
    constexpr int radius = 2;  // the largest of all exercises
    if (!is_picture()) return false;
    const int height = exercise_.numbers.at(1);
    return std::min(column(i), columns_ - 1 - column(i)) < radius ||
           std::min(row(i), height - 1 - row(i)) < radius;
  }
  // Whether the pixel's samples differ only in `channel` (any if negative), and by less than
  // `limit`.
  [[nodiscard]] bool differs_only(std::size_t i, int channel, int limit) const {
    if (!is_picture()) return false;
    for (int c = 0; c < 4; ++c) {
      const auto sample = [c](std::uint32_t word) {
        return static_cast<int>(word >> (8U * static_cast<unsigned>(c)) & 255U);
      };
      const int off = std::abs(sample(ran_.output[i]) - sample(exercise_.expected[i]));
      if (off >= limit || (off > 0 && channel >= 0 && c != channel)) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_negative(std::size_t i) const {
    return exercise_.kind == ElementKind::real && exercise_.expected[i] == 0 &&
           std::bit_cast<float>(ran_.output[i]) < 0;
  }

  const Exercise& exercise_;
  const Ran& ran_;
  const std::string& text_;
  int columns_;
  std::vector<std::size_t> wrong_;
};

}  // namespace

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> all{
      {"hello", "a first kernel, and all that an OpenCL program needs", "2 a + b for two arrays"},
      {"groups", "work-items, work-groups, and who is where",
       "turn the numbers of each group round"},
      {"invert", "a picture: two dimensions, and groups that do not fit", "mirror a picture"},
      {"naive-blur", "neighbours and edges", "the maximum of nine pixels"},
      {"tiled-blur", "local memory, barriers and the halo",
       "a tiled blur, the textbooks' other way"},
      {"matrix-product", "products naive and by tiles, and a network of two layers",
       "a product by tiles with ReLU"},
      {"reduction", "many numbers become one, and how wrong float sums are",
       "the maximum of each group"},
      {"constants", "compiling when the program runs, with literals", "a blur of any radius"}};
  return all;
}

Json to_json(const Verdict& verdict) {
  std::vector<Json> kernels;
  for (const TimedKernel& kernel : verdict.kernels)
    kernels.push_back({{"name", kernel.name}, {"ms", kernel.ms}, {"resources", kernel.resources}});
  return {{"device", verdict.device}, {"passed", verdict.wrong == 0}, {"elements", verdict.all},
          {"wrong", verdict.wrong},   {"first", verdict.first},       {"likely", verdict.likely},
          {"kernels", kernels}};
}

Verdict judge(Session& session, const Lesson& lesson, const std::string& file,
              const std::string& text) {
  const Exercise exercise = exercise_of(lesson.name);
  const Ran own = run(session, own_source(file, text), exercise, exercise.numbers);
  const Differences differences(exercise, own, text);
  Verdict verdict{session.device().name, exercise.expected.size(),
                  differences.count(),   differences.first(),
                  differences.likely(),  {{"yours", own.ms, own.resources}}};
  const auto add = [&](const std::string& name, const EmbeddedFiles& files, const std::string& from,
                       const std::vector<std::int32_t>& numbers) {
    const OwnSource source = own_source(from, std::string(files.find(from)->second));
    const Ran ran = run(session, source, exercise, numbers);
    verdict.kernels.push_back({name, ran.ms, ran.resources});
  };
  if (!exercise.plain_file.empty())
    add("naive", course_files(), exercise.plain_file, exercise.plain_numbers);
  add("our answer", exercise_files(), lesson.name + "-answer.cl", exercise.numbers);
  if (!exercise.stages.empty())
    verdict.kernels.push_back({exercise.stages_text, stage_ms(session, exercise), {}});
  return verdict;
}

}  // namespace gpufilter::lab
