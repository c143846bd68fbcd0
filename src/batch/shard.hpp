// Divides a folder among processes that do not communicate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// One of `count` shares, numbered from 0 like MPI ranks and the tasks of most schedulers.
struct Shard {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  bool operator==(const Shard&) const = default;
};

inline constexpr std::uint32_t max_shards = 1'000'000;

// "3/10", and back. Throws UsageError if the text is not a shard or, like 10/10, is out of range.
[[nodiscard]] std::string to_string(const Shard& shard);
[[nodiscard]] Shard parse_shard(std::string_view text);

// The properties of a picture that decide its share.
struct SizedName {
  std::string_view name;
  std::uint64_t bytes = 0;
};

// The index of each picture's shard, in the order of `pictures`, whose names have to differ;
// `count` is at least 1. Pictures are assigned by size, the largest first (equal sizes by name),
// each to the shard with the fewest bytes so far (ties: fewest pictures, then lowest index):
// "longest processing time first", R. L. Graham, Bounds on Multiprocessing Timing Anomalies, 1969.
// Two shards differ by at most the size of the largest picture. The order of `pictures` does not
// matter.
[[nodiscard]] std::vector<std::uint32_t> assign_shards(std::span<const SizedName> pictures,
                                                       std::uint32_t count);

}  // namespace gpufilter
