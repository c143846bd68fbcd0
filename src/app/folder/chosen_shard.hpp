// The value of --shard.
#pragma once

#include <optional>
#include <string>

#include "app/folder/folder_options.hpp"
#include "batch/shard_detection.hpp"

namespace gpufilter {

// The requested shard; nothing without --shard. Its source is "--shard" unless the value is "auto".
// Throws UsageError.
[[nodiscard]] std::optional<DetectedShard> chosen_shard(const FolderOptions& options);

// The command line, quoted for a shell, without the options that may differ between the processes
// of a run.
[[nodiscard]] std::string command_without_shard(int argc, const char* const* argv);

}  // namespace gpufilter
