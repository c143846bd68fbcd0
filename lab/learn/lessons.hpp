// The lessons of samples/course, and a judge of solutions to their exercises.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/installed_files.hpp"
#include "base/json.hpp"
#include "device/session.hpp"

namespace gpufilter::lab {

// The files of samples/course, "hello.cpp", and of its folder of exercises, "hello.cl" and
// "hello-answer.cl", as they were at build time.
[[nodiscard]] const EmbeddedFiles& course_files();
[[nodiscard]] const EmbeddedFiles& exercise_files();

struct Lesson {
  std::string name;
  std::string title;
  std::string exercise;  // what its kernel computes
};

// In the order in which one learns.
[[nodiscard]] const std::vector<Lesson>& lessons();

// A kernel that did the exercise's work.
struct TimedKernel {
  std::string name;  // "yours"
  double ms = 0;
  std::string resources = {};  // as far as the device tells
};

struct Verdict {
  std::string device;
  std::size_t all = 0;      // numbers or pixels of the result
  std::size_t wrong = 0;    // of them
  std::string first = {};   // the first that is wrong: "row 3, column 5: 7 instead of 8"
  std::string likely = {};  // which mistake looks like that; empty: none that is known
  std::optional<std::string> access = {};  // the first wrong one, as wrong_access() returns it
  std::vector<TimedKernel> kernels = {};

  [[nodiscard]] bool passed() const { return wrong == 0 && access.value_or("").empty(); }
};
[[nodiscard]] Json to_json(const Verdict& verdict);

// Compiles and runs the first kernel in `text`, the contents of `file`, as the lesson's exercise
// requires, and compares it with a plain kernel, our answer and the equivalent stage, if these
// exist. Throws UsageError if the text is not such a kernel or does not compile; DeviceError.
[[nodiscard]] Verdict judge(Session& session, const Lesson& lesson, const std::string& file,
                            const std::string& text);

}  // namespace gpufilter::lab
