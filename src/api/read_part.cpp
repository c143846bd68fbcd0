// Parts of pictures, and smaller ones: a filter from a file into a Picture.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <gpufilter/files.hpp>

#include "api/call_options.hpp"
#include "api/filter_state.hpp"
#include "api/library_words.hpp"
#include "api/picture_state.hpp"
#include "codec/byte_sink.hpp"
#include "codec/unread.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {
namespace {

// Takes a picture instead of bytes.
class PictureSink final : public ByteSink {
 public:
  explicit PictureSink(std::unique_ptr<PictureState>& picture) : picture_(picture) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  void write(std::span<const std::uint8_t> /*bytes*/) override {}
  void commit() override {}
  [[nodiscard]] std::uint64_t bytes_written() const override { return 0; }

  [[nodiscard]] PictureState& begin(const PictureHeader& header) {
    picture_ = std::make_unique<PictureState>(header.shape());
    picture_->header = header;
    return *picture_;
  }

 private:
  std::unique_ptr<PictureState>& picture_;
  std::string name_ = picture_in_memory;
};

class PictureWriter final : public RowWriter {
 public:
  explicit PictureWriter(PictureState& picture) : picture_(picture) {}

  void write(const ConstRows& rows) override {
    const MutableRows target = picture_.rows();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      std::memcpy(target.row(next_++), rows.row(y), target.row_bytes());
  }
  void finish(const Metadata& trailing) override { picture_.trailing = trailing; }

 private:
  PictureState& picture_;
  int next_ = 0;
};

// A format whose files are pictures in memory: everything is kept as it is.
const Codec& kept_pictures() {
  static const Codec codec = [] {
    Codec kept;
    kept.name = "Picture";
    kept.holds_alpha = true;
    kept.color_tags = ColorTags::numbers;
    kept.is_lossless = true;
    kept.create = [](ByteSink& sink, const PictureHeader& header,
                     const WriteOptions& /*options*/) -> std::unique_ptr<RowWriter> {
      return std::make_unique<PictureWriter>(static_cast<PictureSink&>(sink).begin(header));
    };
    return kept;
  }();
  return codec;
}

std::vector<StageUse> stages_for(const ReadPart& part) {
  std::vector<StageUse> stages;
  if (!part.region.empty()) stages.push_back({"crop", part.region});
  if (!part.size.empty()) stages.push_back({"resize", part.size, {{"fast-shrink", ""}}});
  return stages;
}

// `open` opens the input instead of its path, if it is not empty.
Picture read_stages(const std::string& input, const ReadPart& part, const OpenSource& open,
                    const Limits& limits, const RunControl& control) {
  enter_library();
  refuse_nul({input});
  const StageChain chain = chain_of(stages_for(part), read_limits(limits));
  std::unique_ptr<PictureState> picture;
  RunOptions run = run_options({}, limits, control);
  run.open_input = open;
  run.open_output = [&](const std::string&) { return std::make_unique<PictureSink>(picture); };
  run_limited(limits, control, input, [&] {
    const auto processor = make_dispatcher("cpu", false, chain, default_engine_options());
    const ChainOutput output{.path = picture_in_memory, .format = &kept_pictures()};
    const RunReport report = filter_picture(input, output, chain, *processor, run);
    warn_of_unread(input, report.unread);
  });
  return PictureAccess::make(std::move(picture));
}

}  // namespace

Picture read_part(const PathName& path, const ReadPart& part, const Limits& limits,
                  const RunControl& control) {
  return read_stages(path, part, {}, limits, control);
}

Picture decode_part(std::span<const std::uint8_t> bytes, const ReadPart& part, const Limits& limits,
                    const RunControl& control) {
  const auto open = [&](const std::string& name) {
    return memory_source({bytes.begin(), bytes.end()}, name);
  };
  return read_stages(picture_in_memory, part, open, limits, control);
}

}  // namespace gpufilter
