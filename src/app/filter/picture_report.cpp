#include "app/filter/picture_report.hpp"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "app/cli/parse.hpp"
#include "app/cli/paths.hpp"
#include "app/filter/picture_json.hpp"
#include "app/filter/timing_line.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_of(const std::string& input) {
  std::error_code unknown;
  const auto bytes = fs::file_size(input, unknown);
  return unknown ? 0 : bytes;
}

std::string device_text(const EngineReport& engine, const FilterOptions& options) {
  std::string reason = engine.reason;
  if (reason.empty()) {
    const bool replaces = engine.device == "processor" && options.device != "cpu";
    reason = replaces ? "no such device works" : "requested";
  }
  return formatted("{} ({})", engine.device, printable(reason));
}

}  // namespace

PictureReporter::PictureReporter(const FilterOptions& options, std::string output,
                                 const Codec* output_format)
    : options_(options), output_(std::move(output)), output_format_(output_format) {}

void PictureReporter::done(const RunReport& report) const {
  if (!options_.json) return;
  const BatchItem picture = item(report.output_format);
  print_document(result_of(picture, report));
}

void PictureReporter::failed(const std::string& reason) const {
  if (!options_.json) return;
  const BatchItem picture = item(output_format_);
  PictureResult result;
  result.item = &picture;
  result.status = PictureStatus::failed;
  result.failure = reason;
  print_document(result);
}

void PictureReporter::skipped() const {
  if (options_.json) {
    const BatchItem picture = item(output_format_);
    PictureResult result;
    result.item = &picture;
    result.status = PictureStatus::exists;
    print_document(result);
  }
  const std::string line =
      printable(formatted("{} -> {}: already exists, skipped", options_.input, output_));
  if (options_.dry_run && !options_.json) return print_result(line + "\n");
  if (!options_.quiet) print_note(line + "\n");
}

void PictureReporter::planned(const RunReport& preview) const {
  if (options_.json) {
    const BatchItem picture = item(preview.output_format);
    PictureResult result = result_of(picture, preview);
    result.status = PictureStatus::planned;
    return print_document(result);
  }
  std::error_code ignored;
  const bool replaces = !preview.kept && fs::is_regular_file(output_, ignored);
  const char* outcome = preview.kept     ? "would stay unchanged"
                        : preview.copied ? "would be copied unchanged"
                                         : "would be done";
  const std::string notes = preview.encoding ? ", " + preview.encoding->text : "";
  std::string others;
  for (const OutputReport& other : preview.others)
    others += other_output_line(other);
  print_result(formatted("{}: {}{}\n{}; {}{}\n{}device: {}\n",
                         printable(formatted("{} -> {}", options_.input, output_)), outcome,
                         replaces ? "; replaces the existing file" : "", pixels_text(preview),
                         preview.output_format->name, notes, others,
                         device_text(preview.engine, options_)));
}

BatchItem PictureReporter::item(const Codec* output_format) const {
  BatchItem picture;
  picture.input = options_.input;
  picture.output = output_;
  picture.output_format = output_format;
  picture.bytes = bytes_of(options_.input);
  return picture;
}

// Standard output belongs to the picture if it goes there; in a dry run none does.
void PictureReporter::print_document(const PictureResult& result) const {
  const std::string text = picture_document(result, output_);
  if (output_ == standard_stream && !options_.dry_run) {
    std::fputs(text.c_str(), stderr);
  } else {
    gpufilter::print_document(text);
  }
}

}  // namespace gpufilter
