#include "app/filter/picture_page.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "app/cli/paths.hpp"
#include "app/filter/timing_line.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/system_failure.hpp"
#include "base/time_units.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& path, const char* stream) {
  return path == standard_stream ? stream : fs::path(path).filename().string();
}

// Writes a copy of everything to a file.
class CopyingSink final : public ByteSink {
 public:
  CopyingSink(std::unique_ptr<ByteSink> sink, int copy) : sink_(std::move(sink)), copy_(copy) {}

  [[nodiscard]] const std::string& name() const override { return sink_->name(); }
  [[nodiscard]] std::uint64_t bytes_written() const override { return sink_->bytes_written(); }

  void write(std::span<const std::uint8_t> bytes) override {
    sink_->write(bytes);
    try {
      write_fully(copy_, bytes);
    } catch (const std::system_error& error) {
      throw SystemFailure("the copy for --report in " + fs::temp_directory_path().string(),
                          error.code().value());
    }
  }
  void commit() override { sink_->commit(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  int copy_;
};

// The device, and the code of each stage.
html::Section code_section(const BatchTotals& totals, const RunReport& report) {
  html::Section section = device_section(totals);
  section.facts.push_back({"Bands", formatted("{} of {} rows, {} at a time", report.bands,
                                              report.band_rows, report.bands_under_way)});
  for (const PassReport& pass : report.passes) {
    const std::string walk = pass.walk == 0 ? "" : pass_heading(pass.walk) + ": ";
    section.facts.push_back({walk + pass.stage, formatted("{} ({})", pass.variant, pass.reason)});
  }
  return section;
}

std::vector<html::Fact> facts_of(const RunReport& report, std::uint64_t input_bytes) {
  std::vector<html::Fact> facts;
  facts.push_back({"Before", file_text(report.size, report.input_file_pixels, report.input_format,
                                       input_bytes)});
  facts.push_back({"After", file_text(report.output_size, report.output_file_pixels,
                                      report.output_format, report.output_bytes)});
  if (report.encoding) facts.push_back({"Encoding", report.encoding->text});
  if (report.background) {
    facts.push_back({"Alpha", "flattened onto " + to_string(OptionValue(*report.background))});
  }
  if (report.exif_orientation != 1)
    facts.push_back({"Orientation", orientation_text(report.exif_orientation, report.is_oriented)});
  if (!report.unread.empty())
    facts.push_back({"Not read", formatted("{}", fmt::join(report.unread, ", "))});
  if (!report.left_out.empty())
    facts.push_back({"Left out", formatted("{}", fmt::join(report.left_out, ", "))});
  return facts;
}

}  // namespace

PicturePage::PicturePage(const FilterOptions& options, std::string output)
    : options_(options),
      output_(std::move(output)),
      folder_(options.report, options.on_exists == OnExists::fail ? html::EarlierPage::refused
                                                                  : html::EarlierPage::replaced) {}

void PicturePage::watch(RunOptions& run) {
  if (is_stream(options_.input)) {
    stream_ = std::make_unique<RepeatableSource>(options_.input, true);
    run.open_input = [this](const std::string&) { return stream_->open(); };
  } else {
    input_ = open_source(options_.input);
  }
  if (!is_stream(output_)) return;
  try {
    copy_ = nameless_file();
  } catch (const std::system_error& error) {
    throw SystemFailure(fs::temp_directory_path().string(), error.code().value());
  }
  run.open_output = [this, open = run.open_output](const std::string& path) {
    std::unique_ptr<ByteSink> sink = open ? open(path) : open_sink(path);
    if (path == output_) sink = std::make_unique<CopyingSink>(std::move(sink), copy_.get());
    return sink;
  };
}

std::unique_ptr<ByteSource> PicturePage::result_source() const {
  if (!copy_) return open_source(output_);
  FileDescriptor copy(::fcntl(copy_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy || ::lseek(copy.get(), 0, SEEK_SET) != 0) throw SystemFailure(output_, errno);
  return descriptor_source(std::move(copy), output_);
}

void PicturePage::write(const RunReport& report) {
  const std::uint64_t input_bytes = input_ ? input_->size().value_or(0) : 0;
  BatchItem item;
  item.bytes = input_bytes;
  BatchTotals totals;
  totals.add(result_of(item, report), &report);
  std::vector<html::Section> sections{time_section(totals, report.total),
                                      code_section(totals, report)};
  if (!options_.typed_stages.empty())
    sections.insert(sections.begin(), stage_section(options_.typed_stages));
  write(facts_of(report, input_bytes),
        {formatted("{} in {} ms", pixels_text(report), brief(milliseconds(report.total))),
         device_text(report.engine)},
        std::move(sections));
}

void PicturePage::write_skipped() {
  input_ = open_source(options_.input);
  write({}, {"skipped: the output already exists and was kept"}, {});
}

void PicturePage::write(std::vector<html::Fact> facts, std::vector<std::string> summary,
                        std::vector<html::Section> sections) {
  const std::string before = name_of(options_.input, "standard input");
  const std::string after = name_of(output_, "standard output");
  PagePreviews previews(folder_, 1, {"Before", "After"}, options_.run.limits);
  previews.look(1, stream_ ? stream_->open() : std::move(input_), result_source());
  previews.check();
  html::Entry entry = previews.take(1);
  entry.name = before;
  entry.facts = std::move(facts);
  html::Page page;
  page.subject = "gpufilter: one picture";
  page.heading = before == after ? before : before + " \u2192 " + after;
  page.summary = std::move(summary);
  page.entries.push_back(std::move(entry));
  page.sections = std::move(sections);
  const bool replaces = options_.on_exists == OnExists::overwrite;
  if (stream_) page.remark = "It needs the same standard input.";
  if (options_.in_place) page.remark = replaced_remark;
  publish(std::move(page), folder_, replaces ? options_.command_line : options_.repetition,
          options_.quiet);
}

std::unique_ptr<PicturePage> page_for(const FilterOptions& options, const std::string& output) {
  if (options.report.empty()) return nullptr;
  return std::make_unique<PicturePage>(options, output);
}

}  // namespace gpufilter
