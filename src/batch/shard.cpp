#include "batch/shard.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/whole_number.hpp"

namespace gpufilter {
namespace {}  // namespace

std::string to_string(const Shard& shard) {
  return formatted("{}/{}", shard.index, shard.count);
}

Shard parse_shard(std::string_view text) {
  Shard shard;
  const std::size_t slash = std::min(text.find('/'), text.size() - 1);
  if (!parse_whole(text.substr(0, slash), shard.index) ||
      !parse_whole(text.substr(slash + 1), shard.count) || shard.count == 0 ||
      shard.count > max_shards) {
    throw UsageError(
        formatted("--shard {}: is not a share; write I/N, as in 0/8 to 7/8, with N from 1 to {}, "
                  "or auto",
                  printable(std::string(text)), max_shards));
  }
  if (shard.index >= shard.count) {
    throw UsageError(formatted("--shard {}: shards are counted from 0; the last of {} is {}/{}",
                               text, shard.count, shard.count - 1, shard.count));
  }
  return shard;
}

std::vector<std::uint32_t> assign_shards(std::span<const SizedName> pictures, std::uint32_t count) {
  std::vector<std::uint32_t> order(pictures.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(pictures[b].bytes, pictures[a].name) <
           std::tie(pictures[a].bytes, pictures[b].name);
  });
  using Load = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // bytes, pictures, shard
  std::vector<Load> loads;
  for (std::uint32_t shard = 0; shard < count; ++shard)
    loads.emplace_back(0, 0, shard);
  std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest(std::greater<>{},
                                                                        std::move(loads));
  std::vector<std::uint32_t> shards(pictures.size());
  for (const std::uint32_t picture : order) {
    auto [bytes, held, shard] = lightest.top();
    lightest.pop();
    shards[picture] = shard;
    lightest.emplace(bytes + pictures[picture].bytes, held + 1, shard);
  }
  return shards;
}

}  // namespace gpufilter
