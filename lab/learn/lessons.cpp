#include "lab/learn/lessons.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "device/kernel_figures.hpp"
#include "lab/random_data.hpp"
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
  // A lesson's plain kernel, which has the same result without the lesson's idea, and its
  // parameters.
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

// Whole numbers as such, or as floats.
Words words_of(const std::vector<int>& numbers, ElementKind kind) {
  Words words(numbers.size());
  std::ranges::transform(numbers, words.begin(), [kind](int number) {
    return kind == ElementKind::real ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                                     : static_cast<std::uint32_t>(number);
  });
  return words;
}

// An exercise for numbers in one row, in groups of this size.
Exercise for_numbers(ElementKind kind, const std::vector<std::vector<int>>& inputs,
                     const std::vector<int>& expected, std::size_t group) {
  const auto count = static_cast<std::int32_t>(inputs.front().size());
  Exercise exercise{.kind = kind,
                    .expected = words_of(expected, kind),
                    .numbers = {count},
                    .range = {inputs.front().size(), 1, group, 1}};
  for (const std::vector<int>& input : inputs)
    exercise.inputs.push_back(words_of(input, kind));
  return exercise;
}

Exercise scale_and_add() {
  constexpr int count = 100'003;
  const std::vector<int> a = draw(count, -1000, 1000), b = draw(count, 0, 9);
  std::vector<int> results(count);
  std::ranges::transform(a, b, results.begin(), [](int x, int y) { return 2 * x + y; });
  return for_numbers(ElementKind::real, {a, b}, results, 64);
}

Exercise turn_groups() {
  constexpr int count = 4096, group = 16;
  const std::vector<int> numbers = draw(count, 0, 1'000'000);
  std::vector<int> turned = numbers;
  for (auto begin = turned.begin(); begin != turned.end(); begin += group)
    std::reverse(begin, begin + group);
  return for_numbers(ElementKind::number, {numbers}, turned, group);
}

Exercise product() {
  constexpr int side = 128;
  const std::vector<int> a = draw(side * side, -8, 8), b = draw(side * side, -7, 8);
  std::vector<int> c;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int sum = 0;
    for (std::size_t k = 0; k < side; ++k)
      sum += a[i / side * side + k] * b[k * side + i % side];
    c.push_back(std::max(sum, 0));
  }
  Exercise exercise = for_numbers(ElementKind::real, {a, b}, c, 16);
  exercise.numbers = {side};
  exercise.range = {side, side, 16, 16};
  exercise.columns = side;
  exercise.options = "-D RELU";
  exercise.plain_file = "matrix-product.cl";
  exercise.plain_numbers = {side, side, side};
  return exercise;
}

Exercise largest() {
  constexpr int count = 100'000, group = 256;
  const std::vector<int> numbers = draw(count, 0, 1'000'000);
  std::vector<int> maxima;
  for (auto first = numbers.begin(); first != numbers.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(group, numbers.end() - first);
    maxima.push_back(*std::max_element(first, end));
    first = end;
  }
  return for_numbers(ElementKind::number, {numbers}, maxima, group);
}

Words words_of(const ConstRows& rows) {
  const auto width = static_cast<std::size_t>(rows.width);
  Words words(width * static_cast<std::size_t>(rows.rows.count()));
  for (int y = 0; y < rows.rows.count(); ++y)
    std::memcpy(&words[static_cast<std::size_t>(y) * width], rows.row(y), 4 * width);
  return words;
}

// The work of a stage on an opaque picture whose sides are no multiples of a group's.
Exercise picture_exercise(const std::string& option, const std::string& value,
                          const std::string& options = "", const std::string& plain_file = "") {
  constexpr PictureShape shape{{500, 333}, {4, 8}};
  const Image picture = random_picture(shape.size, shape.format);
  const StageChain stages{find_stage(option)->make(value)};
  const Plan plan = baseline_plan(shape, lower_chain(stages, {.shape = shape}));
  const Image result = baseline_rows(plan, picture.rows(), {0, shape.size.height});
  return {.kind = ElementKind::pixel,
          .inputs = {words_of(picture.rows())},
          .expected = words_of(result.rows()),
          .numbers = {shape.size.width, shape.size.height},
          .range = {static_cast<std::size_t>(shape.size.width),
                    static_cast<std::size_t>(shape.size.height), 16, 16},
          .columns = shape.size.width,
          .options = options,
          .stages = stages,
          .plain_file = plain_file,
          .plain_numbers = {shape.size.width, shape.size.height}};
}

Exercise exercise_of(const std::string& lesson) {
  static const std::map<std::string, std::function<Exercise()>> all{
      {"hello", scale_and_add},
      {"groups", turn_groups},
      {"invert", [] { return picture_exercise("--flop", ""); }},
      {"naive-blur", [] { return picture_exercise("--dilate", "1"); }},
      {"tiled-blur", [] { return picture_exercise("--blur", "auto", "", "naive-blur.cl"); }},
      {"matrix-product", product},
      {"reduction", largest},
      {"constants", [] {
         const std::string row = "1 1 1 1 1;";
         return picture_exercise("--convolve", row + row + row + row + row, "-D RADIUS=2");
       }}};
  return all.at(lesson)();
}

// ---- Running and judging ----

// The initial content of the output: no exercise has such a result.
constexpr std::uint32_t poison = 0xa5a5a5a5;

struct Ran {
  Words output;
  bool repeats = true;                                  // each run gave the same
  double ms = std::numeric_limits<double>::infinity();  // the shortest
  std::string resources;
};

Ran run(Session& session, const OwnSource& source, const Exercise& exercise,
        const std::vector<std::int32_t>& numbers) {
  constexpr std::size_t slack = 1'048'576;  // a wrong kernel may write behind its output
  constexpr int trials = 4;                 // the first may still compile
  static_cast<void>(take_made_kernels());
  const std::size_t expected = exercise.inputs.size() + 1 + numbers.size();
  if (source.parameters != expected) {
    throw UsageError(formatted("{}: {} has {}, the exercise's kernel {}", source.file,
                               source.function, counted(source.parameters, "parameter"), expected));
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

// The kernels of the stages, on a picture of that size.
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

// Where the result of a kernel differs from the right one.
class Differences {
 public:
  Differences(const Exercise& exercise, const Ran& ran) : exercise_(exercise), ran_(ran) {
    for (std::size_t i = 0; i < exercise.expected.size(); ++i) {
      if (ran.output[i] != exercise.expected[i]) wrong_.push_back(i);
    }
  }

  [[nodiscard]] std::size_t count() const { return wrong_.size(); }

  [[nodiscard]] std::string first() const {
    if (wrong_.empty()) return "";
    const std::size_t i = wrong_.front();
    const std::string place = exercise_.columns == 0
                                  ? formatted("number {}", i)
                                  : formatted("row {}, column {}", row(i), column(i));
    return formatted("{}: {} instead of {}", place, shown_element(exercise_.kind, ran_.output[i]),
                     shown_element(exercise_.kind, exercise_.expected[i]));
  }

  // The most likely mistake in the kernel `text` for these differences.
  [[nodiscard]] std::string likely(const std::string& text) const {
    if (wrong_.empty()) return "";
    const bool is_picture = exercise_.kind == ElementKind::pixel;
    const bool shares = text.find("__local") != std::string::npos;
    const bool waits = text.find("barrier(") != std::string::npos;
    const bool tiles = is_picture && shares;
    const std::pair<bool, const char*> mistakes[]{
        {ran_.output == exercise_.inputs.front(),
         "the result is the input: nothing is computed yet"},
        {all([this](std::size_t i) { return ran_.output[i] == poison; }),
         "work-items return or stop before they store: look at the conditions and indices"},
        {!ran_.repeats, "a second run differs: work-items do not wait for each other (barrier)"},
        {shares && !waits, "there is no barrier between writing local memory and reading it"},
        {is_picture && all([this](std::size_t i) { return at_edge(i); }),
         "the edge: neighbours outside the picture are not the nearest pixels inside"},
        {tiles && all([this](std::size_t i) { return at_seam(column(i)) && at_seam(row(i)); }),
         "the corners of the halo are not fetched"},
        {tiles && all([this](std::size_t i) { return at_seam(column(i)); }),
         "the halo's columns are not fetched"},
        {tiles && all([this](std::size_t i) { return at_seam(row(i)); }),
         "the halo's rows are not fetched"},
        {is_picture && all([this](std::size_t i) { return (changed(i) & 0xffffffU) == 0; }),
         "alpha, the fourth channel, is treated differently"},
        {is_picture && all([this](std::size_t i) { return is_close(i); }),
         "rounding: the mean is not rounded to the nearest"},
        {all([this](std::size_t i) { return is_negative(i); }),
         "ReLU is missing: negative sums become 0"},
        {true, ""}};
    return std::ranges::find(mistakes, true, &std::pair<bool, const char*>::first)->second;
  }

 private:
  [[nodiscard]] bool all(const std::function<bool(std::size_t i)>& condition) const {
    return std::ranges::all_of(wrong_, condition);
  }
  [[nodiscard]] int column(std::size_t i) const { return static_cast<int>(i) % exercise_.columns; }
  [[nodiscard]] int row(std::size_t i) const { return static_cast<int>(i) / exercise_.columns; }
  [[nodiscard]] static bool at_seam(int place) { return place % 16 == 0 || place % 16 == 15; }
  [[nodiscard]] bool at_edge(std::size_t i) const {
    constexpr int radius = 2;  // the largest of all exercises
    const int x = column(i), y = row(i);
    return std::min({x, y, exercise_.columns - 1 - x, exercise_.numbers.at(1) - 1 - y}) < radius;
  }
  // The bits that differ.
  [[nodiscard]] std::uint32_t changed(std::size_t i) const {
    return ran_.output[i] ^ exercise_.expected[i];
  }
  // Whether no sample of the pixel is off by more than one.
  [[nodiscard]] bool is_close(std::size_t i) const {
    return std::ranges::all_of(std::array{0U, 8U, 16U, 24U}, [&](unsigned shift) {
      const auto sample = [shift](std::uint32_t word) {
        return static_cast<int>(word >> shift & 255U);
      };
      return std::abs(sample(ran_.output[i]) - sample(exercise_.expected[i])) <= 1;
    });
  }
  [[nodiscard]] bool is_negative(std::size_t i) const {
    return exercise_.kind == ElementKind::real && exercise_.expected[i] == 0 &&
           std::bit_cast<float>(ran_.output[i]) < 0;
  }

  const Exercise& exercise_;
  const Ran& ran_;
  std::vector<std::size_t> wrong_;
};

}  // namespace

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> all{
      {"hello", "a first kernel, and all that an OpenCL program needs", "2 a + b for two arrays"},
      {"groups", "work-items, work-groups, and who is where", "reverse the numbers of each group"},
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
  return {{"device", verdict.device},
          {"passed", verdict.passed()},
          {"elements", verdict.all},
          {"wrong", verdict.wrong},
          {"first", verdict.first},
          {"likely", verdict.likely},
          {"wrong_access", verdict.access ? Json(*verdict.access) : Json()},
          {"kernels", kernels}};
}

Verdict judge(Session& session, const Lesson& lesson, const std::string& file,
              const std::string& text) {
  const Exercise exercise = exercise_of(lesson.name);
  const OwnSource source = own_source(file, text);
  const Ran own = run(session, source, exercise, exercise.numbers);
  const Differences differences(exercise, own);
  OwnCall call{exercise.range, {}, exercise.numbers};
  for (const Words& input : exercise.inputs)
    call.buffers.push_back(4 * input.size());
  call.buffers.push_back(4 * exercise.expected.size());
  Verdict verdict{session.device().name,
                  exercise.expected.size(),
                  differences.count(),
                  differences.first(),
                  differences.likely(text),
                  wrong_access(source, exercise.options, call),
                  {{"yours", own.ms, own.resources}}};
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
    verdict.kernels.push_back(
        {"--" + exercise.stages.front()->name(), stage_ms(session, exercise), {}});
  return verdict;
}

}  // namespace gpufilter::lab
