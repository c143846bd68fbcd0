#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/lab/lab_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "lab/learn/lessons.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/own/own_kernel.hpp"

namespace gpufilter {
namespace {

using lab::Lesson;

constexpr const char* learn_description =
    "A course in GPU programming: eight lessons, each a small program with a kernel and an "
    "exercise.";

constexpr const char* learn_explanation =
    R"(Without LESSON, lists the lessons. With it, prints the program, its kernel and
the exercise; samples/course has the files. --check judges a solution: whether
its results are right or which mistake they suggest, whether it accesses memory
out of bounds (where Oclgrind is installed), how long it takes compared with
other kernels, and which of the device's resources it uses.

Exit codes: 0 done, or the solution is right; 1 it is wrong; 2 wrong usage, or
it does not compile; 3 no such device.

Examples:
  gpufilter learn
  gpufilter learn tiled-blur
  gpufilter learn tiled-blur --exercise
  gpufilter learn tiled-blur --check my.cl
)";

std::vector<std::string> lesson_names() {
  std::vector<std::string> names;
  for (const Lesson& lesson : lab::lessons())
    names.push_back(lesson.name);
  return names;
}

const Lesson& lesson_named(const std::string& name) {
  const auto found = std::ranges::find(lab::lessons(), name, &Lesson::name);
  if (found != lab::lessons().end()) return *found;
  throw UsageError(formatted("{}: no such lesson; those are {}", printable(name),
                             fmt::join(lesson_names(), ", ")));
}

std::string list_of_lessons() {
  std::string text;
  for (const Lesson& lesson : lab::lessons())
    text +=
        formatted("{:<16}{}\n{:<16}exercise: {}\n", lesson.name, lesson.title, "", lesson.exercise);
  return text +
         "\n'gpufilter learn LESSON' prints one; docs/engineering/learning.md is the course.\n";
}

std::string exercise_text(const std::string& name) {
  return std::string(lab::exercise_files().find(name)->second);
}

std::string lesson_text(const Lesson& lesson) {
  constexpr const char* part = "==== samples/course/{}\n\n{}\n";
  std::string text;
  for (const std::string& file : {lesson.name + ".cpp", lesson.name + ".cl"})
    text += formatted(part, file, lab::course_files().find(file)->second);
  const std::string exercise = lesson.name + ".cl";
  return text + formatted(part, "exercises/" + exercise, exercise_text(exercise));
}

std::string judgement_text(const lab::Verdict& verdict) {
  std::string text = formatted("on {}: ", printable(verdict.device));
  text += verdict.wrong == 0 ? "all equal\n"
                             : formatted("{} of {} differ\nthe first is {}\n", verdict.wrong,
                                         verdict.all, verdict.first);
  if (!verdict.likely.empty()) text += formatted("likely: {}\n", verdict.likely);
  if (!verdict.access) {
    text += formatted("accesses: not checked; {}\n", how_to_get_oclgrind);
  } else {
    text +=
        formatted("accesses: {}\n",
                  verdict.access->empty() ? "none outside the buffers, no race" : *verdict.access);
  }
  text += "\n";
  for (const lab::TimedKernel& kernel : verdict.kernels) {
    text += formatted("{:<15}{:>9.3f} ms{}{}\n", kernel.name, kernel.ms,
                      kernel.resources.empty() ? "" : "  ", kernel.resources);
  }
  return text;
}

int check_solution(const Lesson& lesson, const std::string& file, const std::string& device,
                   bool json) {
  const std::string text = read_small_text(file, "an OpenCL kernel");
  if (device == "cpu")
    throw UsageError("--check: --device cpu runs no OpenCL kernel; name another device");
  const auto sessions = start_devices(device == "auto" || device == "all" ? "opencl" : device);
  const lab::Verdict verdict = lab::judge(*sessions.at(0), lesson, file, text);
  if (json) {
    Json document{{"schema", "gpufilter-learn-1"},
                  {"version", GPUFILTER_VERSION},
                  {"lesson", lesson.name},
                  {"file", file}};
    document.append(lab::to_json(verdict));
    print_document(document.indented(2) + "\n");
  } else {
    print_result(judgement_text(verdict));
  }
  return verdict.passed() ? 0 : 1;
}

}  // namespace

int run_learn_command(int argc, const char* const* argv) {
  Arguments app(learn_description, "gpufilter learn");
  std::string name;
  std::string file;
  std::string device = "opencl";
  bool exercise = false;
  bool answer = false;
  bool json = false;
  app.add_option("LESSON", name, "A lesson from the list.")->suggests({.words = lesson_names()});
  app.add_flag("--exercise", exercise, "Print the exercise alone, to be completed.");
  app.add_flag("--answer", answer, "Print our answer.");
  app.add_option("--check", file, "Compile, run and judge this solution.")
      ->option_text("FILE.cl")
      ->suggests({.files = Suggestions::Files::all, .extensions = {".cl"}});
  app.add_flag("--json", json, "Print the judgement as a JSON object.");
  app.add_option("--device", device,
                 "The OpenCL device: opencl, gpu, an index or part of a name from 'gpufilter "
                 "devices'.")
      ->envname("GPUFILTER_DEVICE")
      ->option_text("DEVICE [opencl]")
      ->suggests({.words = {"opencl", "gpu"}, .devices = true});
  add_color_output(app);
  app.footer(learn_explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (name.empty()) {
    if (exercise || answer || !file.empty())
      throw UsageError("name a lesson: gpufilter learn tiled-blur --check my.cl");
    print_result(list_of_lessons());
    return 0;
  }
  const Lesson& lesson = lesson_named(name);
  if (!file.empty()) return check_solution(lesson, file, device, json);
  if (exercise || answer) {
    print_result(exercise_text(lesson.name + (answer ? "-answer.cl" : ".cl")));
  } else {
    print_result(lesson_text(lesson));
  }
  return 0;
}

}  // namespace gpufilter
