// One picture from file to file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/dispatcher.hpp"

namespace gpufilter {

using OnProgress = std::function<void(std::int64_t done, std::int64_t all)>;

struct RunOptions {
  ReadLimits limits;
  WriteOptions write;
  // When the work began that the report accounts for; the call where it is empty.
  std::optional<Nanoseconds> start;
  // Bytes that the bands under way, and rows decoded ahead of them, may take. A band of one row is
  // allowed whatever it takes, and so is one of the height that the engine's options ask for.
  std::uint64_t max_memory = std::uint64_t{128} << 20U;
  // Opens the output; open_sink() where it is empty.
  std::function<std::unique_ptr<ByteSink>(const std::string& path)> open_output;
  // Called after each band: rows done, rows to do in all, over all walks. May be empty.
  OnProgress on_progress;
};

// What was done, and how long everything took.
struct RunReport {
  std::string input;
  std::string output;
  const Codec* input_format = nullptr;
  const Codec* output_format = nullptr;
  ImageSize size;
  PixelFormat input_pixel;
  PixelFormat output_pixel;
  int bands = 0;
  int band_rows = 0;
  std::size_t bands_under_way = 0;        // at the same time, in the last walk
  std::uint64_t memory = 0;               // bytes that those may take
  int exif_orientation = 1;               // of the input: carried, not applied
  std::uint64_t output_bytes = 0;         // of the file
  std::optional<EncodingNotes> encoding;  // how it was written
  bool alpha_flattened = false;  // laid over a background: the output's format has no alpha
  EngineReport engine;
  std::vector<PassReport> passes;
  std::vector<Span> spans;
  Nanoseconds start = 0;
  Nanoseconds total = 0;  // wall clock, until the output is in place
};

// Reads `input`, runs the chain and writes `output` ("-": standard input and output) in
// `output_format`, or in the input's format where that is nullptr, on the engine that `dispatcher`
// assigns. The output appears whole or not at all. Throws PictureError, DeviceError, UsageError.
[[nodiscard]] RunReport filter_picture(const std::string& input, const std::string& output,
                                       const Codec* output_format, const StageChain& chain,
                                       Dispatcher& dispatcher, const RunOptions& options);
// The same on `engine`.
[[nodiscard]] RunReport filter_picture(const std::string& input, const std::string& output,
                                       const Codec* output_format, const StageChain& chain,
                                       Engine& engine, const RunOptions& options);

}  // namespace gpufilter
