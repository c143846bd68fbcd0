// library_bench: the cost of a library call on pixels in memory, compared with the loop alone:
// lab/peers/README.md.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

#include <gpufilter/gpufilter.hpp>

#include "pipeline/execute/host_check.hpp"
#include "pipeline/plan/plan.hpp"
#include "stage/options/catalogue.hpp"

namespace {

using namespace gpufilter;
using Clock = std::chrono::steady_clock;

// The shortest and the middle time of many calls, in microseconds.
struct Times {
  double shortest;
  double middle;
};
template <typename Call>
Times time(const Call& call, double seconds) {
  std::vector<double> times;
  const auto begin = Clock::now();
  for (int warm = 0; warm < 3; ++warm)
    call();
  while (times.size() < 5 ||
         std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

void print(const char* what, const Times& times) {
  std::cout << "  " << std::left << std::setw(34) << what << std::right << std::fixed
            << std::setprecision(1) << std::setw(12) << times.shortest << std::setw(12)
            << times.middle << "\n";
}

struct Memory {
  Memory(const Shape& of, std::size_t row_pitch)
      : shape(of), pitch(row_pitch), bytes(pitch * static_cast<std::size_t>(of.height)) {
    unsigned state = 1;
    for (std::uint8_t& byte : bytes)
      byte = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24U);
  }
  View view() {
    return {bytes.data(), shape.width, shape.height, shape.channels, shape.depth, pitch};
  }
  MutableRows rows() {
    return {bytes.data(), pitch, {0, shape.height}, shape.width, {shape.channels, shape.depth}};
  }

  Shape shape;
  std::size_t pitch;
  std::vector<std::uint8_t> bytes;
};

void measure(const StageUse& stage, const Shape& shape, double seconds) {
  std::cout << "--" << stage.name << " " << stage.value << ", " << shape.width << "x"
            << shape.height << "x" << shape.channels << ", microseconds: shortest, middle\n";
  const std::size_t row = static_cast<std::size_t>(shape.width * shape.channels);
  Memory in(shape, row);
  Memory out(shape, row);
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option != "--" + stage.name) continue;
    const Plan plan = make_plan({{shape.width, shape.height}, {shape.channels, shape.depth}},
                                {kind.make(stage.value)});
    print("the loop alone, one thread",
          time([&] { run_on_host(plan.passes.front(), in.rows(), out.rows()); }, seconds));
  }
  const PictureFilter one({stage}, FilterSettings{.device = "cpu", .limits = {.threads = 1}});
  print("run(view, view), one thread", time([&] { one.run(in.view(), out.view()); }, seconds));
  const PictureFilter all({stage}, "cpu");
  print("run(view, view), all threads", time([&] { all.run(in.view(), out.view()); }, seconds));
  const PictureFilter chosen({stage}, "auto");
  print("run(view, view), auto", time([&] { chosen.run(in.view(), out.view()); }, seconds));
  print("run(view) -> Picture", time([&] { static_cast<void>(all.run(in.view())); }, seconds));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 0.5;
  for (const StageUse& stage : std::vector<StageUse>{invert{}, blur{}, color{"sepia"}}) {
    measure(stage, {64, 64, 3, 8}, seconds);
    measure(stage, {512, 512, 3, 8}, seconds);
    measure(stage, {5472, 3648, 3, 8}, seconds);
  }
}
