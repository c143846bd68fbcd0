#include "pipeline/stored_outputs.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace gpufilter {

StoredOutputs::StoredOutputs(PictureInput& input, const StageChain& chain,
                             const std::vector<ChainOutput>& outputs, const Codec& last_format,
                             const RunOptions& options)
    : input_(input),
      chain_(chain),
      options_(options.write),
      always_(*options.write.get<std::string>(lossless_option()) == "always") {
  for (const ChainOutput& output : outputs) {
    const Codec* format = output.format == nullptr ? input.header().file_format : output.format;
    outputs_.push_back(decide(output.stages, *format, output.keep));
  }
  outputs_.push_back(decide(chain.size(), last_format, options.keep_last_output));
  if (are_any() && !are_all() && !input_.is_repeatable())
    encode_all("it is read from a stream, and another output has to be decoded");
}

StoredOutputs::Output StoredOutputs::decide(std::size_t stages, const Codec& format, bool kept) {
  const std::string mode = *options_.get<std::string>(lossless_option());
  if (kept || mode == "never" || !format.has_stored_pictures) return {kept};
  const PictureHeader& header = input_.header();
  std::string objection;
  Placement placement{{}, header.size, {}};
  if (header.file_format != &format) {
    objection = formatted("its format is {}", header.file_format->name);
  } else if (const Stage* stage = find_placement(stages, placement)) {
    objection = formatted("--{} computes pixels", stage->name());
  } else {
    objection = input_.stored_picture()->objection(placement, options_);
    if (objection.empty()) return {kept, placement};
    log::info(formatted("{}: decoded, because {}", input_.name(), objection));
  }
  if (always_) refuse(objection);
  return {kept};
}

// Of the result of the first `stages` stages. Returns the first stage that does more than move
// pixels, if there is one.
const Stage* StoredOutputs::find_placement(std::size_t stages, Placement& placement) const {
  for (std::size_t i = 0; i < stages; ++i) {
    const auto next = chain_[i]->placement(placement.result_size());
    if (!next) return chain_[i].get();
    placement = placement.then(*next);
  }
  return nullptr;
}

void StoredOutputs::refuse(const std::string& objection) const {
  throw PictureError(input_.name(), formatted("--lossless always: {}; with --lossless auto, it is "
                                              "decoded and encoded again",
                                              objection));
}

void StoredOutputs::encode_all(const std::string& objection) {
  if (always_) refuse(objection);
  log::info(formatted("{}: decoded, because {}", input_.name(), objection));
  for (Output& output : outputs_)
    output.placement.reset();
}

std::vector<bool> StoredOutputs::without_rows() const {
  std::vector<bool> all;
  for (const Output& output : outputs_)
    all.push_back(output.kept || output.placement);
  return all;
}

bool StoredOutputs::are_all() const {
  return std::ranges::all_of(without_rows(), [](bool is_without) { return is_without; });
}

bool StoredOutputs::are_any() const {
  return std::ranges::any_of(outputs_,
                             [](const Output& output) { return output.placement.has_value(); });
}

void StoredOutputs::load() {
  reader_ = input_.open();
  const std::string objection = reader_->stored_picture()->load();
  if (objection.empty()) return;
  if (!input_.is_repeatable()) refuse(objection);
  encode_all(objection);
  reader_.reset();
}

std::optional<StoredPart> StoredOutputs::part(std::size_t output) const {
  const auto& placement = outputs_.at(output).placement;
  if (!placement) return std::nullopt;
  StoredPicture* picture = reader_ ? reader_->stored_picture() : input_.stored_picture();
  return StoredPart{picture, *placement};
}

void StoredOutputs::finish() {
  if (reader_) input_.finish(*reader_);
}

void StoredOutputs::describe(RunReport& report) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    OutputReport& output = i < report.others.size() ? report.others[i] : report;
    if (outputs_[i].placement) output.output_file_pixels = report.input_file_pixels;
  }
}

std::string StoredOutputs::account() const {
  for (const Output& output : outputs_) {
    if (output.placement)
      return formatted("{} without decoding", output.placement->verb(input_.header().size));
  }
  return "";
}

}  // namespace gpufilter
