#include "batch/shard.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "batch/journal.hpp"

namespace gpufilter {
namespace {

constexpr const char* explicit_remedy = "or give the share as --shard I/N";

[[noreturn]] void refuse(const std::string& reason) {
  throw UsageError("--shard auto: " + reason);
}

// The rank and count that one source gives.
struct Rank {
  std::uint64_t index = 0;
  std::uint64_t count = 0;  // 0: the source does not say
  std::string source;
};

using Ranks = std::vector<Rank>;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  [[nodiscard]] bool has(const std::string& name) const { return environment_.contains(name); }

  // Nothing if it is not set. Throws UsageError if it is not a number.
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name) const {
    const auto found = environment_.find(name);
    if (found == environment_.end()) return std::nullopt;
    std::uint64_t value = 0;
    if (parse_whole(found->second, value) && value <= UINT32_MAX) return value;
    refuse(formatted("{} is '{}', which is not a whole number; unset it, {}", name,
                     printable(found->second), explicit_remedy));
  }

 private:
  const Environment& environment_;
};

void check(const Rank& rank, const std::string& remedy) {
  if (rank.index < rank.count) return;
  refuse(formatted("{}: this is not one of {}; {}", rank.source, rank.count, remedy));
}

std::optional<Rank> slurm_array(const Variables& variables) {
  const auto id = variables.number("SLURM_ARRAY_TASK_ID");
  if (!id) return std::nullopt;
  const auto first = variables.number("SLURM_ARRAY_TASK_MIN");
  const auto last = variables.number("SLURM_ARRAY_TASK_MAX");
  const std::uint64_t step = variables.number("SLURM_ARRAY_TASK_STEP").value_or(1);
  const auto count = variables.number("SLURM_ARRAY_TASK_COUNT");
  if (!first || !last) {
    refuse(
        formatted("SLURM_ARRAY_TASK_ID is set without SLURM_ARRAY_TASK_MIN and "
                  "SLURM_ARRAY_TASK_MAX; pass them on, {}",
                  explicit_remedy));
  }
  const std::string source = formatted("SLURM_ARRAY_TASK_ID {} ({} to {}{})", *id, *first, *last,
                                       step == 1 ? "" : formatted(" in steps of {}", step));
  const bool is_regular = step > 0 && *first <= *id && *id <= *last && (*id - *first) % step == 0;
  if (!is_regular || (count && *count != (*last - *first) / step + 1)) {
    refuse(formatted("{}{}: the array has gaps; use one like --array=0-7, {}", source,
                     count ? formatted(", SLURM_ARRAY_TASK_COUNT {}", *count) : "",
                     explicit_remedy));
  }
  return Rank{(*id - *first) / step, (*last - *first) / step + 1, source};
}

// The rank `number` from the variable `name`; `missing` is the message if there is no count.
Rank counted_rank(const std::string& name, std::uint64_t number, std::optional<std::uint64_t> count,
                  const std::string& missing) {
  if (!count) refuse(formatted("{}, {}", missing, explicit_remedy));
  return {number, *count, formatted("{} {} of {}", name, number, *count)};
}

std::optional<Rank> kubernetes_job(const Variables& variables) {
  const auto index = variables.number("JOB_COMPLETION_INDEX");
  if (!index) return std::nullopt;
  const std::string remedy = "set JOB_COMPLETIONS to the job's completions";
  Rank rank = counted_rank("JOB_COMPLETION_INDEX", *index, variables.number("JOB_COMPLETIONS"),
                           "JOB_COMPLETION_INDEX is set without a count; " + remedy);
  check(rank, remedy);
  return rank;
}

// In a batch script the variables describe the processes that srun would start.
bool is_slurm_batch_script(const Variables& variables) {
  return variables.has("SLURM_JOB_ID") && !variables.has("SLURM_STEP_ID") &&
         !variables.has("SLURM_STEPID");
}

std::optional<Rank> slurm_step(const Variables& variables) {
  const auto index = variables.number("SLURM_PROCID");
  auto count = variables.number("SLURM_STEP_NUM_TASKS");
  if (!count) count = variables.number("SLURM_NTASKS");
  if (!index || (!count && *index == 0)) return std::nullopt;
  Rank rank = counted_rank("SLURM_PROCID", *index, count,
                           "SLURM_PROCID is set without SLURM_NTASKS; pass it on");
  check(rank, explicit_remedy);
  return rank;
}

std::optional<Rank> of_mpi(const Variables& variables, const std::string& index_name,
                           const std::string& count_name) {
  const auto index = variables.number(index_name);
  if (!index) return std::nullopt;
  Rank rank{*index, variables.number(count_name).value_or(0), ""};
  rank.source = formatted("{} {}", index_name, *index);
  if (rank.count == 0 && !variables.has(count_name)) return rank;
  rank.source += formatted(" of {}", rank.count);
  check(rank, explicit_remedy);
  return rank;
}

std::optional<Rank> gnu_parallel(const Variables& variables) {
  const auto number = variables.number("PARALLEL_SEQ");  // from 1
  if (!number) return std::nullopt;
  Rank rank = counted_rank("PARALLEL_SEQ", *number, variables.number("PARALLEL_COUNT"),
                           "PARALLEL_SEQ is set without a count; call env PARALLEL_COUNT={##} "
                           "gpufilter with parallel");
  --rank.index;
  check(rank, "PARALLEL_COUNT={##} gives the number of jobs");
  return rank;
}

// Combines what all sources say. Throws UsageError if they contradict each other or none has a
// count.
std::optional<Rank> agreed(const Ranks& ranks) {
  if (ranks.empty()) return std::nullopt;
  Rank all = ranks.front();
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const Rank& other = ranks[i];
    const bool same_count = other.count == all.count || other.count == 0 || all.count == 0;
    if (other.index != all.index || !same_count) {
      refuse(formatted("{} and {} contradict each other; unset one of them, {}", all.source,
                       other.source, explicit_remedy));
    }
    all.count = std::max(all.count, other.count);
    all.source += ", " + other.source;
  }
  if (all.count == 0) {
    refuse(formatted("{} is set without a count; {}", all.source, "give the share as --shard I/N"));
  }
  return all;
}

std::optional<Rank> of_the_array(const Variables& variables) {
  Ranks ranks;
  for (const auto& source : {slurm_array, kubernetes_job}) {
    if (auto rank = source(variables)) ranks.push_back(std::move(*rank));
  }
  return agreed(ranks);
}

std::optional<Rank> of_the_processes(const Variables& variables) {
  Ranks ranks;
  const auto add = [&](std::optional<Rank> rank) {
    if (rank) ranks.push_back(std::move(*rank));
  };
  add(of_mpi(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"));
  add(of_mpi(variables, "PMI_RANK", "PMI_SIZE"));
  add(of_mpi(variables, "PMIX_RANK", "PMIX_SIZE"));
  add(gnu_parallel(variables));
  auto step = slurm_step(variables);
  if (!is_slurm_batch_script(variables)) {
    add(std::move(step));
  } else if (ranks.empty() && step && step->count > 1) {
    refuse(
        formatted("this is the batch script of a Slurm job with {} tasks; start gpufilter with "
                  "srun, {}",
                  step->count, explicit_remedy));
  }
  return agreed(ranks);
}

}  // namespace

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

DetectedShard detect_shard(const Environment& environment) {
  const Variables variables(environment);
  const auto array = of_the_array(variables);
  const auto process = of_the_processes(variables);
  if (!array && !process) {
    refuse(
        "no scheduler has set its variables (Slurm's, JOB_COMPLETION_INDEX, OMPI_COMM_WORLD_RANK, "
        "PMI_RANK, PMIX_RANK, PARALLEL_SEQ); give the share as --shard I/N");
  }
  const Rank outer = array.value_or(Rank{0, 1, ""});
  const Rank inner = process.value_or(Rank{0, 1, ""});
  const std::uint64_t count = outer.count * inner.count;
  if (count > max_shards) {
    refuse(formatted("{} shards are too many; the limit is {}", count, max_shards));
  }
  const bool both = array && process;
  return {{static_cast<std::uint32_t>(outer.index * inner.count + inner.index),
           static_cast<std::uint32_t>(count)},
          outer.source + (both ? ", " : "") + inner.source};
}

}  // namespace gpufilter
