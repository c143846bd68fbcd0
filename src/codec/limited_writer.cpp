#include "codec/limited_writer.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/codec_table.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

class LimitedWriter final : public RowWriter {
 public:
  LimitedWriter(const Codec& codec, ByteSink& sink, PictureHeader header, WriteOptions options)
      : codec_(codec),
        sink_(sink),
        header_(std::move(header)),
        options_(std::move(options)),
        max_bytes_(static_cast<std::size_t>(*options_.get<int>(max_bytes_option()))) {
    check_memory(sink.name(), row_pitch(header_.size.width, header_.format) * header_.size.height,
                 {.max_memory = options_.max_memory()}, "a picture with --max-bytes",
                 "choose a --quality instead");
    picture_ = Image(header_.size, header_.format);
    notes_ = {formatted("quality for at most {} bytes", max_bytes_), {}};
  }

  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      std::memcpy(picture_.rows().row(next_row_++), rows.row(y), rows.row_bytes());
  }

  void finish(const Metadata& trailing) override {
    WriteOptions as_given = options_;
    as_given.unset(max_bytes_option());
    File file = encode(as_given, trailing);
    if (file.bytes.size() > max_bytes_) file = smaller_than(file.bytes.size(), trailing);
    sink_.write(file.bytes);
    notes_ = file.writer->notes();
    left_out_ = {};
    for (std::string name : file.writer->left_out())
      left_out_.add(std::move(name));
    file_pixels_ = file.writer->file_pixels();
  }

 private:
  struct File {
    std::vector<std::uint8_t> bytes;
    std::unique_ptr<RowWriter> writer;  // has finished
  };

  [[nodiscard]] File encode(const WriteOptions& options, const Metadata& trailing) const {
    File file;
    const auto sink = memory_sink(file.bytes, sink_.name());
    file.writer = codec_.create(*sink, header_, options);
    file.writer->write(picture_.rows());
    file.writer->finish(trailing);
    sink->commit();
    return file;
  }

  // By bisection: quality `low` fits, and those above `high` do not, or are above the given one.
  [[nodiscard]] File smaller_than(std::size_t bytes, const Metadata& trailing) const {
    if (*options_.get<std::string>(lossless_option()) == "always")
      fail(bytes, "without loss", "leave out --lossless, or make the picture smaller");
    int low = 1;
    int high = options_.get<int>(quality_option()).value_or(101) - 1;
    File best = encode(with_quality(low), trailing);
    if (best.bytes.size() > max_bytes_)
      fail(best.bytes.size(), "at quality 1", "make the picture smaller");
    while (low < high) {
      const int quality = (low + high + 1) / 2;
      File trial = encode(with_quality(quality), trailing);
      if (trial.bytes.size() > max_bytes_) {
        high = quality - 1;
      } else {
        low = quality;
        best = std::move(trial);
      }
    }
    return best;
  }

  [[nodiscard]] WriteOptions with_quality(int quality) const {
    WriteOptions options = options_;
    return options.set(quality_option(), std::to_string(quality));
  }

  [[noreturn]] void fail(std::size_t bytes, std::string_view how, std::string_view remedy) const {
    throw PictureError(sink_.name(), formatted("{} bytes {}, more than --max-bytes {}; {}", bytes,
                                               how, max_bytes_, remedy));
  }

  const Codec& codec_;
  ByteSink& sink_;
  PictureHeader header_;
  WriteOptions options_;
  std::size_t max_bytes_;
  Image picture_;
  int next_row_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> limited_writer(const Codec& codec, ByteSink& sink,
                                          const PictureHeader& header,
                                          const WriteOptions& options) {
  return std::make_unique<LimitedWriter>(codec, sink, header, options);
}

}  // namespace gpufilter
