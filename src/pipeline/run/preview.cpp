#include "pipeline/run/preview.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <unistd.h>

#include "base/error.hpp"
#include "codec/byte_sink.hpp"
#include "codec/repeatable_source.hpp"
#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/picture_output.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Files appear under a temporary name in the folder, so the folder has to be writable.
void check_folder_of(const std::string& output) {
  if (is_stream(output)) return;
  const fs::path folder = fs::path(output).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return;
  throw PictureError(output, describe_creation_error(output, errno));
}

void expect_encoding(OutputReport& report, const PictureHeader& header, const WriteOptions& options,
                     const std::optional<StoredPart>& stored) {
  if (report.copied) {
    report.encoding = notes_on_copy(report, header, options, stored);
    return;
  }
  std::vector<std::uint8_t> unused;
  const auto sink = memory_sink(unused, report.output);
  report.encoding = create_writer(report, *sink, header, options, stored)->notes();
}

EngineReport expected_engine(Dispatcher& dispatcher, const PictureTask& task) {
  EngineReport report;
  const Assignment assignment = dispatcher.assign(task);
  assignment.engine->await_choice();
  if (task.chain.empty()) {
    report.reason = "no stage to run";
    return report;
  }
  if (std::ranges::all_of(task.chain, [](const LoweredStage& stage) {
        return stage.demand && stage.demand->whole;
      })) {
    return engine_that_turns();
  }
  report.device = assignment.engine->is_on_processor() ? "processor" : "OpenCL";
  report.reason = assignment.reason;
  return report;
}

}  // namespace

RunReport preview_picture(const std::string& input, const std::string& output,
                          const Codec* output_format, const StageChain& asked,
                          Dispatcher& dispatcher, const RunOptions& options) {
  PictureInput source(input, asked, options);
  const PictureHeader& header = source.header();
  const Codec& to = output_format != nullptr ? *output_format : *header.file_format;
  RunReport report;
  report.input = input;
  report.output = output;
  report.exif_orientation = source.orientation();
  describe_orientation(report, asked, options.outputs);
  std::vector<ChainOutput> outputs = options.outputs;
  const LoweredChain chain = lower_for(asked, input, header, source.orientation(), outputs);
  check_results(input, header, chain, options.limits);
  describe_formats(report, header, chain, to, outputs, options);
  const StoredOutputs stored(source, chain, outputs, to, options);
  stored.describe(report);
  if (!stored.are_copies()) report.unread = header.unread;
  if (options.refuse_unread) refuse_unread(source);
  if (const int largest = decoding_divisor(chain, source.shape(), outputs, stored.without_rows());
      largest > 1)
    report.decoding_divisor = source.decode_smaller(largest);
  if (!options.open_output) {
    check_folder_of(output);
    for (const OutputReport& other : report.others)
      check_folder_of(other.output);
  }
  report.engine =
      stored.are_all()
          ? engine_of_stored(stored.account())
          : expected_engine(dispatcher, picture_task(header, chain, to, bytes_of_file(input)));
  for (std::size_t i = 0; i < report.others.size(); ++i)
    expect_encoding(report.others[i], header, options.write, stored.part(i));
  expect_encoding(report, header, options.write, stored.part(report.others.size()));
  return report;
}

}  // namespace gpufilter
