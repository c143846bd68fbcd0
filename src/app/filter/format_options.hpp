// The options of output formats, as the table of codecs declares them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// `options` has to outlive the parsing.
void add_format_options(Arguments& app, WriteOptions& options);

// The files of these formats.
[[nodiscard]] Suggestions picture_files(const CodecList& formats = codecs());

// The formats that --to accepts, those that the help shows, and the codec for a format's name.
[[nodiscard]] std::vector<std::string> format_names();
[[nodiscard]] std::vector<std::string> main_format_names();
// A value of --to. Formats that are known but not written are refused by name.
[[nodiscard]] ValueCheck format_name();

[[nodiscard]] const Codec& codec_named(const std::string& name);

// Throws UsageError if an option was given that none of `formats`, the formats of all outputs,
// takes. If `formats` is empty, they are unknown. Where damaged pictures are kept, readers use
// background_option() too.
void refuse_unused_options(const WriteOptions& options, const CodecList& formats,
                           Damaged damaged = Damaged::fail);

// Finds given options that had no effect on any picture, which may be known only after the pictures
// are read.
class OptionUse {
 public:
  explicit OptionUse(const WriteOptions& options, Damaged damaged = Damaged::fail)
      : options_(options), damaged_(damaged) {}

  // The outputs of a picture were written.
  void add(const RunReport& report);

  // "--background has no effect: the picture has no alpha", a line for each such option.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct Unused {
    std::size_t pictures = 0;
    std::string reason;  // of the last one
  };
  const WriteOptions& options_;
  Damaged damaged_;
  std::size_t pictures_ = 0;
  std::map<const WriteOption*, Unused> unused_;
};

}  // namespace gpufilter
