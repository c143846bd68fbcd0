// The share of a folder that the command line asks for.
#pragma once

#include <optional>
#include <string>

#include "app/folder_options.hpp"
#include "batch/shard_detection.hpp"

namespace gpufilter {

// What --shard says; the source is "--shard" where it gives the share itself. Nothing where it is
// not given. Throws UsageError.
[[nodiscard]] std::optional<DetectedShard> chosen_shard(const FolderOptions& options);

// The command line as a shell takes it, without the options that may differ between the processes
// of a run.
[[nodiscard]] std::string command_without_shard(int argc, const char* const* argv);

}  // namespace gpufilter
