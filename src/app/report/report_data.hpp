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
class BatchTotals {
 public:
  void add(const PictureResult& result, const RunReport* report);

  [[nodiscard]] std::size_t count(PictureStatus status) const {
    return counts_.at(static_cast<std::size_t>(status));
  }
  // Pictures whose files were copied because nothing was to change; they count as done too.
  [[nodiscard]] std::size_t copied() const { return copied_; }
  [[nodiscard]] std::uint64_t pixels() const { return pixels_; }
  [[nodiscard]] std::uint64_t input_bytes() const { return input_bytes_; }
  [[nodiscard]] std::uint64_t output_bytes() const { return output_bytes_; }
  // Pictures that were turned upright, and files that existed before.
  [[nodiscard]] std::size_t turned() const { return turned_; }
  [[nodiscard]] std::size_t replaced() const { return replaced_; }
  // The bytes of the outputs before the end of the chain, of each over all pictures.
  [[nodiscard]] const std::vector<std::uint64_t>& other_bytes() const { return other_bytes_; }
  // Blocks that --verify found correct; nothing if none were checked.
  [[nodiscard]] const std::optional<std::uint64_t>& verified_blocks() const {
    return verified_blocks_;
  }
  // In processing order.
  [[nodiscard]] std::vector<ActivityTotal> activities() const;
  // The devices in use, each once, in the order of their first picture. The reason is that of all
  // its pictures. If they differ, as estimates do, only EngineReport::share is kept.
  struct DeviceUse {
    EngineReport engine;
    std::size_t pictures = 0;
    std::string first_reason = {};  // that of the first picture
  };
  [[nodiscard]] const std::vector<DeviceUse>& devices() const { return devices_; }

 private:
  void add_device(const EngineReport& engine);

  std::array<std::size_t, 6> counts_{};  // by PictureStatus
  std::size_t copied_ = 0;               // of those that are done
  std::uint64_t pixels_ = 0;
  std::uint64_t input_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;
  std::size_t turned_ = 0;
  std::size_t replaced_ = 0;
  std::vector<std::uint64_t> other_bytes_;
  std::optional<std::uint64_t> verified_blocks_;
  std::map<std::tuple<int, Activity, int, std::string>, ActivityTotal> activities_;
  std::vector<DeviceUse> devices_;
};

// The timing of a picture: "gpufilter-timing-1", and CSV with columns as its first line names them.
[[nodiscard]] std::string timing_json(const RunReport& report);
[[nodiscard]] std::string timing_csv(const RunReport& report);

// What became of a picture, a document: "gpufilter-picture-1".
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
