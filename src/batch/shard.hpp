// Shares of a folder, for processes that know nothing of each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// One of `count` shares. They are counted from 0, as ranks and the tasks of schedulers are.
struct Shard {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  bool operator==(const Shard&) const = default;
};

inline constexpr std::uint32_t max_shards = 1'000'000;

// "3/10", and back. Throws UsageError for texts that are none, and for 10/10.
[[nodiscard]] std::string to_string(const Shard& shard);
[[nodiscard]] Shard parse_shard(std::string_view text);

// A picture as far as its share depends on it.
struct SizedName {
  std::string_view name;
  std::uint64_t bytes = 0;
};

// The index of the shard of each picture, in the order of `pictures`, whose names differ. Each
// picture, the largest first and of equal ones by name, goes to the shard with the fewest bytes so
// far (of such to the one with the fewest pictures, then to the first): "longest processing time
// first", R. L. Graham, Bounds on Multiprocessing Timing Anomalies, 1969. Two shards differ by no
// more than the largest picture, and the order of `pictures` does not matter. `count` is from 1.
[[nodiscard]] std::vector<std::uint32_t> assign_shards(std::span<const SizedName> pictures,
                                                       std::uint32_t count);

}  // namespace gpufilter
