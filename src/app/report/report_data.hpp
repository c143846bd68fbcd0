// Totals over all pictures of a run, and reports for programs: JSON and CSV, about one picture or
// about a folder.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "batch/batch_run.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/run_totals.hpp"

namespace gpufilter {

// Adds up pictures. Memory grows with the kinds of activity, not with the pictures.
struct BatchTotals {
  void add(const PictureResult& result, const RunReport* report);

  [[nodiscard]] std::size_t count(PictureStatus status) const {
    return counts.at(static_cast<std::size_t>(status));
  }
  // In processing order.
  [[nodiscard]] std::vector<ActivityTotal> activities() const;

  // The reason applies to all pictures on the device. If reasons differ, as estimates do, only
  // EngineReport::share is kept.
  struct DeviceUse {
    EngineReport engine;
    std::size_t pictures = 0;
    std::string first_reason = {};  // the first picture's
  };

  std::array<std::size_t, 6> counts{};  // by PictureStatus
  std::size_t copied = 0;  // pictures that are done: their files, because nothing was to change
  std::uint64_t pixels = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::size_t turned = 0;                        // pictures, upright
  std::size_t replaced = 0;                      // files that existed before
  std::vector<std::uint64_t> other_bytes;        // of each output before the end of the chain
  std::optional<std::uint64_t> verified_blocks;  // found correct by --verify
  std::map<std::tuple<int, Activity, int, std::string>, ActivityTotal> by_kind;  // activities()
  std::vector<DeviceUse> devices;  // in use, each once, in the order of their first picture

 private:
  void add_device(const EngineReport& engine);
};

// The timing of a picture: "gpufilter-timing-1", and CSV with columns as its first line names them.
[[nodiscard]] std::string timing_json(const RunReport& report);
[[nodiscard]] std::string timing_csv(const RunReport& report);

// The report on a picture, the document "gpufilter-picture-1".
[[nodiscard]] std::string picture_document(const BatchPlan& plan, const PictureResult& result);

// The timing of a folder: "gpufilter-batch-timing-1", and CSV.
[[nodiscard]] std::string batch_timing_json(const BatchTotals& totals, Nanoseconds elapsed);
[[nodiscard]] std::string batch_csv(const BatchTotals& totals, Nanoseconds elapsed);

// A document about a folder in pieces: the beginning, each picture, the end. "gpufilter-batch-1".
[[nodiscard]] std::string batch_json_begin(const BatchPlan& plan, bool dry_run);
[[nodiscard]] std::string batch_json_picture(const BatchPlan& plan, const PictureResult& result,
                                             bool is_first);
[[nodiscard]] std::string batch_json_end(const BatchTotals& totals, Nanoseconds elapsed);

}  // namespace gpufilter
