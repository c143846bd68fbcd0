// The plan of the requested run, checked before anything is touched.
#pragma once

#include "app/filter/filter_options.hpp"
#include "batch/batch_plan.hpp"

namespace gpufilter {

// Whether the pictures go into a folder with a journal. A single picture does if a folder option is
// given, and if the run is only planned or reported as JSON, so that the form of the report does
// not depend on how many pictures "*.png" means.
[[nodiscard]] bool is_folder_run(const FilterOptions& options);

// The plan for one picture: where it goes, in which formats, and which outputs exist and stay. Asks
// before it replaces a file, if the terminal is interactive. Throws UsageError if the picture must
// not or cannot go there, or the options do not suit it; PictureError if there is no input.
[[nodiscard]] BatchPlan plan_of_picture(const FilterOptions& options);

// Throws UsageError if the options do not suit a folder.
void check_folder_run(const FilterOptions& options);
// Throws UsageError if --trace names a picture of the run.
void check_trace(const FilterOptions& options, const BatchPlan& plan);
// Whether --timing prints a document on standard output.
[[nodiscard]] bool timing_is_data(const FilterOptions& options);

[[nodiscard]] BatchRequest request_for(const FilterOptions& options);
// The plan for a folder. Throws as make_batch_plan() does, and UsageError if no output takes a
// given option.
[[nodiscard]] BatchPlan plan_of_folder(const FilterOptions& options, const BatchRequest& request);

}  // namespace gpufilter
