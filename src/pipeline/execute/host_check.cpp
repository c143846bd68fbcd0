#include "pipeline/execute/host_check.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/stop.hpp"
#include "host/instruction_set.hpp"
#include "image/float_samples.hpp"

namespace gpufilter {
namespace {

// The bits of a float.
std::uint32_t sample_at(const std::uint8_t* row, std::size_t index, const PixelFormat& format) {
  std::uint32_t sample = 0;
  for_words(format, [&](auto word) {
    std::memcpy(&word, row + index * sizeof word, sizeof word);
    sample = word;
  });
  return sample;
}

}  // namespace

int rows_between_checks(const Pass& pass, int all) {
  constexpr double seconds = 0.01;
  const StageCost cost = pass.step->cost(pass.input.format);
  const double of_row = cost.rate.host * cost.operations_a_pixel * pass.output.size.width;
  const int fewest = std::max({pass.window_rows() / 4, pass.properties.suitable_rows, 4});
  return of_row * all <= seconds ? all : std::max(static_cast<int>(seconds / of_row), fewest);
}

void run_on_host(const Pass& pass, const ConstRows& source, const MutableRows& target) {
  if (pass.set != instruction_set())
    throw std::logic_error("--" + pass.step->title().name + ": planned with another set");
  const int all = target.rows.count();
  const int step = stop_of_this_call().stop_possible() ? rows_between_checks(pass, all) : all;
  for (const RepeatedRows& part : cut_at_edges(target.rows, pass.output.size.height)) {
    const ConstRows from = source.renumbered(-part.repeats * pass.input.size.height);
    for (int y = part.rows.begin; y < part.rows.end; y += step) {
      check_stop();
      const RowRange rows{y, std::min(y + step, part.rows.end)};
      pass.step->run(from, target.part(rows).renumbered(-part.repeats * pass.output.size.height),
                     {pass.input.size, pass.output.size});
    }
  }
}

Plan baseline_plan(const PictureShape& input, const LoweredChain& chain) {
  const BaselineOnThisThread baseline;
  return make_plan(input, chain, {.band_rows = INT32_MAX});
}

Image baseline_rows(const Plan& plan, const ConstRows& source, const RowRange& wanted) {
  const BaselineOnThisThread baseline;
  const std::vector<RowRange> windows = plan.windows(wanted);
  ConstRows input = source.part(windows.front());
  Image result;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const PictureShape& output = plan.passes[i].output;
    Image next(output.size.width, windows[i + 1], output.format);
    run_on_host(plan.passes[i], input, next.rows());
    result = std::move(next);
    input = std::as_const(result).rows();
  }
  return result;
}

std::optional<DifferingSample> first_difference(const ConstRows& expected, const ConstRows& found) {
  const PixelFormat format = expected.format;
  const std::size_t bytes = expected.row_bytes();
  const auto channels = static_cast<std::size_t>(format.channels);
  for (int y = expected.rows.begin; y < expected.rows.end; ++y) {
    const std::uint8_t* wanted = expected.row(y);
    const std::uint8_t* got = found.row(y);
    if (std::memcmp(wanted, got, bytes) == 0) continue;
    for (std::size_t i = 0; i < bytes / format.bytes_per_sample(); ++i) {
      const std::uint32_t a = sample_at(wanted, i, format);
      const std::uint32_t b = sample_at(got, i, format);
      if (a == b) continue;
      return DifferingSample{static_cast<int>(i / channels), y, static_cast<int>(i % channels), a,
                             b};
    }
  }
  return std::nullopt;
}

std::string to_string(const DifferingSample& sample, const PixelFormat& format) {
  const auto text = [&](std::uint32_t bits) {
    return format.is_float() ? formatted("{:a}", std::bit_cast<float>(bits))
                             : formatted("{}", bits);
  };
  return formatted("row {}, column {}, {}: {} instead of {}", sample.y, sample.x,
                   channel_names(format).at(static_cast<std::size_t>(sample.channel)),
                   text(sample.found), text(sample.expected));
}

BlockCheck::BlockCheck(const Plan& plan, const LoweredChain& chain, int blocks, unsigned seed)
    : baseline_(baseline_plan(plan.input, chain)) {
  std::vector<RowRange> all;
  for (const RowRange& band : plan.bands()) {
    for (int y = band.begin; y < band.end; y += block_rows)
      all.push_back({y, std::min(y + block_rows, band.end)});
  }
  std::sample(all.begin(), all.end(), std::back_inserter(chosen_), blocks, std::mt19937(seed));
}

void BlockCheck::check(const ConstRows& source, const ConstRows& result, const std::string& picture,
                       const std::string& by) {
  for (const RowRange& block : chosen_) {
    if (!result.rows.contains(block)) continue;
    const Image expected = baseline_rows(baseline_, source, block);
    const auto sample = first_difference(expected.rows(), result.part(block));
    if (sample) {
      throw PictureError(picture,
                         formatted("not verified: {} differs from the processor's baseline: {}", by,
                                   to_string(*sample, expected.format())));
    }
    ++checked_;
  }
}

}  // namespace gpufilter
