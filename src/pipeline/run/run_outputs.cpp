#include "pipeline/run/run_outputs.hpp"

#include "base/format.hpp"
#include "base/log.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter {

RunOutputs::RunOutputs(RunReport& report, PictureInput& input, const LoweredChain& chain,
                       const std::vector<ChainOutput>& outputs, const Codec& last_format,
                       const RunOptions& options)
    : report_(report),
      input_(input),
      chain_(chain),
      places_(outputs),
      options_(options),
      stored_(input, chain, outputs, last_format, options) {
  note_unread();
  if (!stored_.are_any() && !stored_.are_copies()) return;
  Span span{.activity = Activity::read_stored, .start = now()};
  stored_.load();
  span.duration = now() - span.start;
  report_.spans.push_back(span);
}

PictureOutput& RunOutputs::open(OutputReport& report) {
  if (files_.empty()) {
    input_.prepare_metadata(*report_.output_format);
    for (const OutputReport& other : report_.others)
      input_.prepare_metadata(*other.output_format);
  }
  PictureHeader header = input_.header();
  header.metadata = input_.leading_metadata(report.is_oriented);
  const std::size_t stages =
      files_.size() == places_.size() ? chain_.size() : places_[files_.size()].stages;
  const LoweredChain part = part_of(chain_, 0, stages);
  if (const auto profile = last_profile(part)) set_profile(header.metadata, *profile);
  header.keeps_positions =
      report.output_size == header.size && keeps_positions(part, {header.size, header.format});
  return files_.emplace_back(report, std::move(header), options_, stored_.part(files_.size()));
}

void RunOutputs::finish(Timeline& timeline, const Span& kind) {
  const ScopedSpan span(timeline, kind);
  note_orientation();
  for (PictureOutput& file : files_)
    file.finish(input_.trailing_metadata());
  stored_.finish();
  note_unread();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (stored_.is_copy(i)) files_[i].copy(*input_.open_bytes());
    files_[i].commit();
    if (options_.keep_time && input_.modified()) files_[i].set_time(*input_.modified());
  }
}

// A copy has all of it.
void RunOutputs::note_unread() const {
  if (options_.refuse_unread) refuse_unread(input_);
  report_.unread = stored_.are_copies() ? std::vector<std::string>() : input_.header().unread;
}

void RunOutputs::note_orientation() const {
  report_.exif_orientation = input_.orientation();
  if (report_.exif_orientation == 1 || report_.is_oriented) return;
  log::info(formatted("{}: EXIF orientation {}: carried over, the pixels stay as stored",
                      report_.input, report_.exif_orientation));
}

}  // namespace gpufilter
