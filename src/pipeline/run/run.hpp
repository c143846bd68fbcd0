// Filters one picture from file to file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/timeline.hpp"
#include "codec/byte_source.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter {

using OnProgress = std::function<void(std::int64_t done, std::int64_t all)>;

// A file for the picture after the first `stages` stages of the chain; for the result of all of
// them, that number does not matter.
struct ChainOutput {
  std::string path;               // "-": standard output
  const Codec* format = nullptr;  // nullptr: the input's
  bool keep = false;              // the file exists and stays as it is
  std::size_t stages = 0;
  // The number in RunOptions::branches of further stages that only this output goes through.
  std::optional<std::size_t> branch = std::nullopt;
};

// All stages that `output` goes through.
[[nodiscard]] StageChain chain_to(const ChainOutput& output, const StageChain& chain,
                                  const std::vector<StageChain>& branches);

// Who decodes pictures that a device filters.
enum class DecodeOn {
  automatic,  // a GPU, if it is sooner
  cpu,
  gpu  // the OpenCL device, whenever it can
};

// Who encodes JPEGs if their last stage runs on a device.
enum class EncodeOn {
  automatic,  // a GPU
  cpu,
  gpu  // the OpenCL device, whenever it can
};

struct RunOptions {
  ReadLimits limits;
  DecodeOn decode_on = DecodeOn::automatic;
  WriteOptions write;
  // The outputs before the end of the chain, in the order of their stages, and those of a branch
  // one after the other; none leaves the chain between --linear and --encoded.
  std::vector<ChainOutput> outputs = {};
  // Stages that outputs go through instead of the rest of the chain. None of them may demand the
  // whole picture or its statistics.
  std::vector<StageChain> branches = {};
  bool keep_time = false;      // outputs get the input's time of modification
  bool first_page = false;     // what else a file holds is not to be in its outputs
  bool refuse_unread = false;  // a file that holds more than is read fails: UnreadParts
  EncodeOn encode_on = EncodeOn::automatic;
  // The start of the time that the report covers; by default the time of the call.
  std::optional<Nanoseconds> start;
  // Bytes that the bands in progress, the rows decoded ahead of them and a turned picture may take;
  // if there is no room for that, it is kept in a temporary file. A single band of one row, or of
  // the height in the engine's options, is allowed even if it takes more.
  std::uint64_t max_memory = std::uint64_t{128} << 20U;
  // Bytes that a picture may take besides these if a device decodes it, most of them the device's;
  // a device of little memory grants fewer.
  std::uint64_t decoder_memory = UINT64_MAX;
  // Opens the input, once for each walk; open_source() if empty.
  OpenSource open_input;
  // Opens each output; open_sink() if empty.
  std::function<std::unique_ptr<ByteSink>(const std::string& path)> open_output;
  // The number of blocks of the result that the processor's baseline computes again. If one
  // differs, the picture fails and no output appears.
  int verify_blocks = 0;
  // Called after each band with the rows done and all rows, over all walks. May be empty.
  OnProgress on_progress;
};

// The result would replace a file that holds more than is read, and RunOptions::refuse_unread.
class UnreadParts : public PictureError {
 public:
  using PictureError::PictureError;
};

// One output file.
struct OutputReport {
  std::string output;
  bool kept = false;      // it existed before and was not written
  bool replaced = false;  // it was a file that existed before
  bool copied = false;    // it holds the input's bytes; if that is the same file, it is kept
  const Codec* output_format = nullptr;
  ImageSize output_size;
  PixelFormat output_pixel;               // of the rows that the chain yields
  FilePixels output_file_pixels;          // as the file holds them
  bool is_oriented = false;               // the input's EXIF orientation was applied; 1 is carried
  std::uint64_t output_bytes = 0;         // of the file
  std::optional<EncodingNotes> encoding;  // how it was written
  std::vector<std::string> left_out;      // metadata that its format cannot hold, by names
  // The colour that alpha is flattened onto, if its format has no alpha.
  std::optional<Color> background;
};

// The outcome for a picture; it is also the report on the output at the end of the chain.
struct PictureReport : OutputReport {
  std::string input;
  std::vector<OutputReport> others;  // as in RunOptions::outputs
  const Codec* input_format = nullptr;
  ImageSize size;                      // of the input
  PixelFormat input_pixel;             // of the rows that the chain gets
  FilePixels input_file_pixels;        // as the input file holds them
  std::vector<std::string> unread;     // what else the input holds; see PictureHeader::unread
  int decoding_divisor = 1;            // of the input's sides, if it was decoded smaller
  int exif_orientation = 1;            // of the input
  std::optional<int> verified_blocks;  // found equal; nothing if verification is off
  EngineReport engine;
  Nanoseconds start = 0;
  Nanoseconds total = 0;  // wall clock, until the outputs are in place

  // The report on the output with this number, of which the last is that at the end of the chain.
  [[nodiscard]] OutputReport& on_output(std::size_t i) {
    return i < others.size() ? others[i] : *this;
  }
};

// The outcome for a picture, and how it was computed.
struct RunReport : PictureReport {
  int bands = 0;
  int band_rows = 0;
  std::size_t bands_under_way = 0;               // at the same time, in the last walk
  std::uint64_t memory = 0;                      // bytes that these may take
  std::vector<std::string> stage_warnings = {};  // Lowered::warning of each stage that has one
  std::vector<PassReport> passes;
  std::size_t result_passes = 0;  // those that the result went through; others only measured
  std::vector<Span> spans;
};

// Reads `input` ("-": standard input), runs the chain on the engine that `dispatcher` assigns, and
// writes the result to `output`, and the outputs in `options`. Each output appears complete or not
// at all, and none before all are complete. Throws PictureError, DeviceError, UsageError.
[[nodiscard]] RunReport filter_picture(const std::string& input, const ChainOutput& output,
                                       const StageChain& chain, Dispatcher& dispatcher,
                                       const RunOptions& options);
// Filters on `engine`.
[[nodiscard]] RunReport filter_picture(const std::string& input, const ChainOutput& output,
                                       const StageChain& chain, Engine& engine,
                                       const RunOptions& options);

// Describes what filter_picture() would do: reads the header of `input` and writes nothing. The
// report has the size, the formats, how the outputs would be encoded, and the device as far as it
// is known before the work: `engine` has the device "processor", "OpenCL" or "none", and the
// reason. Throws what filter_picture() would throw before the first row.
[[nodiscard]] RunReport preview_picture(const std::string& input, const ChainOutput& output,
                                        const StageChain& chain, Dispatcher& dispatcher,
                                        const RunOptions& options);

// The counts of the samples of a picture that comes as rows.
struct CountedPicture {
  Histograms histograms;
  EngineReport engine;
  PassReport gathering;
};

// Reads the picture to its end. `reason` says why on this engine; empty: the engine's own reason.
// Throws PictureError, DeviceError.
[[nodiscard]] CountedPicture count_picture(RowReader& reader, Engine& engine,
                                           const std::string& reason,
                                           const OnProgress& on_progress = {});

// The values of --orientation.
enum class OrientationRule {
  automatic,  // before the first stage that depends on the orientation
  apply,      // at the beginning
  keep        // nowhere
};

// Their words: "auto", "apply", "keep".
[[nodiscard]] const std::vector<std::pair<std::string, OrientationRule>>& orientation_rules();

// Adds the stage that applies the orientation to `chain` where the rule wants it. `outputs` stay
// behind the stages that they were behind.
void add_upright_stage(StageChain& chain, OrientationRule rule, std::vector<ChainOutput>& outputs);

}  // namespace gpufilter
