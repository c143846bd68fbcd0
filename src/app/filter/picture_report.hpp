// Reports on one picture besides its timing: --json, --dry-run, an output that already exists.
#pragma once

#include "app/filter/filter_options.hpp"
#include "batch/batch_run.hpp"

namespace gpufilter {

// Reports about a picture whose output is `output`, or goes to standard output.
class PictureReporter {
 public:
  // `options` have to outlive it. `output_format` is nullptr if it is not known yet.
  PictureReporter(const FilterOptions& options, std::string output, const Codec* output_format);

  // With --json, the document of a picture that is done.
  void done(const RunReport& report) const;
  // With --json, the document of one that failed.
  void failed(const std::string& reason) const;
  // The output already exists and is kept.
  void skipped() const;
  // For --dry-run: what would be done.
  void planned(const RunReport& preview) const;

 private:
  [[nodiscard]] BatchItem item(const Codec* output_format) const;
  void print_document(const PictureResult& result) const;

  const FilterOptions& options_;
  std::string output_;
  const Codec* output_format_;
};

}  // namespace gpufilter
