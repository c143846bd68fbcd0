// The page of --report about one picture.
#pragma once

#include <memory>
#include <string>

#include "app/filter/filter_options.hpp"
#include "app/report/page_parts.hpp"

namespace gpufilter {

class PicturePage {
 public:
  // Claims the folder. `output` is the path of the result. `options` outlive this. Throws
  // UsageError, PictureError.
  PicturePage(const FilterOptions& options, std::string output);

  // Before the run with the options `run`: keeps the input, which the run may replace, and what
  // passes through standard input and output. Throws PictureError if that fails.
  void watch(RunOptions& run);

  // After it. Throws PictureError.
  void write(const RunReport& report);
  // The output already existed and was kept. The same.
  void write_skipped();

 private:
  void write(std::vector<html::Fact> facts, std::vector<std::string> summary,
             std::vector<html::Section> sections);
  [[nodiscard]] std::unique_ptr<ByteSource> result_source() const;

  const FilterOptions& options_;
  std::string output_;
  html::PageFolder folder_;
  std::unique_ptr<RepeatableSource> stream_;  // the input, if it can be read only once
  std::unique_ptr<ByteSource> input_;
  FileDescriptor copy_;  // of an output that cannot be read again
};

// The page about one picture that options ask for; nullptr if they ask for none.
[[nodiscard]] std::unique_ptr<PicturePage> page_for(const FilterOptions& options,
                                                    const std::string& output);

}  // namespace gpufilter
