#include "pipeline/run/stored_outputs.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "image/image.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter {

StoredOutputs::StoredOutputs(PictureInput& input, const LoweredChain& chain,
                             const std::vector<ChainOutput>& outputs, const Codec& last_format,
                             const RunOptions& options)
    : input_(input),
      chain_(chain),
      options_(options.write),
      first_page_(options.first_page),
      keeps_damaged_(options.limits.damaged == Damaged::keep),
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
  if (kept) return {kept};
  Output output{.may_be_copied = mode != "never" && may_copy_to(format)};
  const LoweredChain part = part_of(chain_, 0, stages);
  // The reader has converted ink and the like; a stage for colours means the file's.
  const PictureHeader& header = input_.header();
  if (last_profile(part) && header.file_pixels.color != file_pixels(header.format).color)
    output.may_be_copied = false;
  output.copied = output.may_be_copied && change_nothing(part, input_.shape());
  if (mode == "never" || !format.has_stored_pictures) return output;
  std::string objection;
  Placement placement{{}, header.size, {}};
  if (header.file_format != &format) {
    objection = formatted("its format is {}", header.file_format->name);
  } else if (const LoweredStage* stage = find_placement(stages, placement)) {
    objection = formatted("--{} computes pixels", stage->title.name);
  } else {
    objection = input_.stored_picture()->objection(placement, options_);
    if (objection.empty()) output.placement = placement;
    if (objection.empty() || output.copied) return output;
    log::info(formatted("{}: decoded, because {}", input_.name(), objection));
  }
  if (always_ && !output.copied) refuse(objection);
  return output;
}

// Not if an option asks for other bytes.
bool StoredOutputs::may_copy_to(const Codec& format) const {
  const PictureHeader& header = input_.header();
  return header.file_format == &format && input_.is_repeatable() && !keeps_damaged_ &&
         !(first_page_ && !header.unread.empty()) &&
         std::ranges::none_of(format.options, [&](const WriteOption* option) {
           return option != &lossless_option() && options_.is_given(*option);
         });
}

// The placement of the result of the first `stages` stages. Returns the first stage that does more
// than move pixels, if there is one.
const LoweredStage* StoredOutputs::find_placement(std::size_t stages, Placement& placement) const {
  for (std::size_t i = 0; i < stages; ++i) {
    if (!chain_[i].placement) return &chain_[i];
    placement = placement.then(*chain_[i].placement);
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
    all.push_back(output.kept || output.copied || output.placement);
  return all;
}

bool StoredOutputs::are_copies() const {
  return std::ranges::all_of(outputs_,
                             [](const Output& output) { return output.kept || output.copied; });
}

bool StoredOutputs::copy_last() {
  outputs_.back().copied = outputs_.back().may_be_copied;
  return outputs_.back().copied;
}

bool StoredOutputs::are_all() const {
  return std::ranges::all_of(without_rows(), [](bool is_without) { return is_without; });
}

bool StoredOutputs::are_any() const {
  return std::ranges::any_of(outputs_,
                             [](const Output& output) { return output.placement.has_value(); });
}

void StoredOutputs::load() {
  if (!are_any()) return read_all();
  reader_ = input_.open();
  const std::string objection = reader_->stored_picture()->load();
  if (objection.empty()) return;
  if (!input_.is_repeatable()) refuse(objection);
  encode_all(objection);
  reader_.reset();
  input_.warn_again();
}

// For copies, whose pixels nobody wants.
void StoredOutputs::read_all() {
  constexpr std::size_t step_bytes = std::size_t{256} << 10U;
  if (!are_all()) return;
  reader_ = input_.open();
  const auto& [size, format] = input_.shape();
  const int step =
      std::clamp(static_cast<int>(step_bytes / row_pitch(size.width, format)), 1, size.height);
  for (int y = 0; y < size.height; y += step) {
    Image rows(size.width, {y, std::min(y + step, size.height)}, format);
    reader_->read(rows.rows());
  }
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
    const auto& [kept, placement, copied, unused] = outputs_[i];
    if (placement || copied) output.output_file_pixels = report.input_file_pixels;
    if (!copied) continue;
    output.copied = true;
    std::error_code ignored;
    output.kept = std::filesystem::equivalent(report.input, output.output, ignored);
    if (output.kept) output.output_bytes = bytes_of_file(output.output);
  }
}

std::string StoredOutputs::account() const {
  if (are_copies()) return "nothing to change";
  for (const Output& output : outputs_) {
    if (output.placement && !output.copied)
      return formatted("{} without decoding", output.placement->verb(input_.header().size));
  }
  return "";
}

}  // namespace gpufilter
