#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "api/call_options.hpp"
#include "api/filter_state.hpp"
#include "api/library_words.hpp"
#include "base/error.hpp"
#include "base/stop.hpp"
#include "base/threads.hpp"
#include "batch/batch_run.hpp"
#include "codec/unread.hpp"

namespace gpufilter {
namespace {

// The public Existing and the internal OnExists have the same order.
static_assert(static_cast<int>(Existing::overwrite) == static_cast<int>(OnExists::overwrite));

BatchRequest request_for(const std::string& input, const std::string& output,
                         const FolderSettings& settings, const RunWork& work) {
  BatchRequest request;
  request.inputs = {input};
  request.output = output;
  request.recursive = settings.recursive;
  request.patterns = settings.match;
  request.on_exists = static_cast<OnExists>(settings.existing);
  request.resume = settings.resume;
  request.work = work;
  if (!settings.to.empty()) request.to = {&codec_for_output("picture." + settings.to)};
  return request;
}

class FolderListener final : public BatchListener {
 public:
  FolderListener(const BatchPlan& plan, const FolderSettings& settings, const RunControl& control,
                 FolderResult& result)
      : plan_(plan), settings_(settings), control_(control), result_(result) {
    for (const BatchItem& item : plan.items)
      all_bytes_ += item.bytes;
  }

  void finished(const PictureResult& result, const RunReport* report) override {
    if (report != nullptr) warn_of_unread(report->input, report->unread);
    done_bytes_ += result.item->bytes;
    FolderPicture picture;
    picture.input = result.item->input;
    picture.output = plan_.output_path(*result.item);
    switch (result.status) {
      case PictureStatus::done:
        ++result_.done;
        break;
      case PictureStatus::failed:
        picture.status = FolderPicture::Status::failed;
        picture.reason = library_words(result.failure);
        result_.failed.push_back(picture);
        break;
      default:
        picture.status = FolderPicture::Status::skipped;
        ++result_.skipped;
    }
    if (settings_.finished) settings_.finished(picture);
    advanced(0);
  }
  void advanced(std::uint64_t bytes_under_way) override {
    check_stop();
    if (!control_.progress || all_bytes_ == 0) return;
    // Files may grow while they are read.
    const std::uint64_t done = std::min(done_bytes_ + bytes_under_way, all_bytes_);
    highest_ = std::max(highest_, static_cast<double>(done) / static_cast<double>(all_bytes_));
    control_.progress(highest_);
  }
  void listed(const PictureResult& /*result*/) override {}

 private:
  const BatchPlan& plan_;
  const FolderSettings& settings_;
  const RunControl& control_;
  FolderResult& result_;
  std::uint64_t all_bytes_ = 0;
  std::uint64_t done_bytes_ = 0;  // of finished pictures
  double highest_ = 0;            // that was reported
};

// A folder that does not exist is a mistake, not a folder with one picture that fails.
void check_exists(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found)
    throw SystemFailure(folder, ENOENT);
}

BatchOptions batch_options(const FolderSettings& settings, const Limits& limits) {
  const std::size_t threads =
      limits.threads > 0 ? static_cast<std::size_t>(limits.threads) : allowed_threads();
  BatchOptions batch;
  batch.run.limits = read_limits(limits);
  batch.run.write = write_options(settings.options, limits);
  batch.jobs = settings.jobs > 0 ? settings.jobs : static_cast<int>(threads);
  batch.threads = std::max(limits.threads, limits.threads > 0 ? batch.jobs : 0);
  batch.run.max_memory = memory_of_jobs(limits.max_memory, batch.jobs);
  batch.stop_on_error = settings.stop_on_error;
  return batch;
}

}  // namespace

FolderResult PictureFilter::run_folder(const PathName& input, const PathName& output,
                                       const FolderSettings& settings,
                                       const RunControl& control) const {
  const Nanoseconds start = now();
  refuse_nul({input.text(), output.text(), settings.to});
  return in_library_words([&] {
    check_exists(input);
    const BatchOptions batch = batch_options(settings, state_->settings().limits);
    const BatchPlan plan = make_batch_plan(
        request_for(input, output, settings, run_work(state_->chain(), batch.run.write)));
    FolderResult result;
    FolderListener listener(plan, settings, control, result);
    const StopScope scope(control.stop);
    run_batch(plan, state_->chain(), state_->dispatcher(), batch, listener);
    result.seconds = seconds_since(start);
    return result;
  });
}

}  // namespace gpufilter
