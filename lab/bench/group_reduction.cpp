#include "lab/bench/group_reduction.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/format.hpp"
#include "lab/lab_kernels.hpp"

namespace gpufilter::lab {
namespace {

// Enough work-items to hide memory's latency, whatever the size of groups.
constexpr std::size_t items_a_unit = 2048;

struct Macros {
  const char* combine;
  const char* total;          // the type of totals of integers
  const char* neutral;        // for integers
  const char* float_neutral;  // nullptr: not for floats
};

const Macros& macros_of(Operation operation) {
  static constexpr std::array macros{
      Macros{"ADD", "long", "0", "0"},
      Macros{"MULTIPLY", "long", "1", "1"},
      Macros{"MINIMUM", "int", "INT_MAX", "INFINITY"},
      Macros{"MAXIMUM", "int", "INT_MIN", "-INFINITY"},
      Macros{"AND", "int", "-1", nullptr},
      Macros{"OR", "int", "0", nullptr},
      Macros{"XOR", "int", "0", nullptr},
  };
  return macros.at(static_cast<std::size_t>(operation));
}

bool is_wide(Operation operation) {
  return operation == Operation::sum || operation == Operation::product;
}

std::string options_of(Operation operation, bool of_floats, std::size_t group_size) {
  const Macros& macros = macros_of(operation);
  return formatted("-D COMBINE={} -D VALUE={} -D TOTAL={} -D NEUTRAL={} -D GROUP_WIDTH={}",
                   macros.combine, of_floats ? "float" : "int", of_floats ? "float" : macros.total,
                   of_floats ? macros.float_neutral : macros.neutral, group_size);
}

template <typename Total>
Total combined(Operation operation, const std::vector<Total>& totals) {
  Total result = totals.front();
  for (std::size_t i = 1; i < totals.size(); ++i) {
    const Total next = totals[i];
    if (operation == Operation::sum) result += next;
    if (operation == Operation::product) result *= next;
    if (operation == Operation::minimum) result = std::min(result, next);
    if (operation == Operation::maximum) result = std::max(result, next);
    if constexpr (!std::is_floating_point_v<Total>) {
      if (operation == Operation::bit_and) result &= next;
      if (operation == Operation::bit_or) result |= next;
      if (operation == Operation::bit_xor) result ^= next;
    }
  }
  return result;
}

void check_group(const DeviceInfo& device, std::size_t group_size) {
  if (device.fits(group_size, 1, group_size * sizeof(std::uint64_t))) return;
  throw UsageError(formatted("{}: takes no work-groups of {}", device.name, group_size));
}

}  // namespace

const char* to_string(Operation operation) {
  static constexpr std::array names{"sum", "product", "minimum", "maximum", "and", "or", "xor"};
  return names.at(static_cast<std::size_t>(operation));
}

GroupReduction::GroupReduction(Session& session, Operation operation, bool of_floats,
                               int group_size)
    : operation_(operation),
      group_size_(static_cast<std::size_t>(group_size)),
      groups_(std::max<std::size_t>(
          1, std::max(session.device().compute_units, 1U) * items_a_unit / group_size_)),
      kernel_((check_group(session.device(), group_size_),
               session.make_kernel({.file = "reduce_in_groups.cl",
                                    .function = "reduce_in_groups",
                                    .options = options_of(operation, of_floats, group_size_),
                                    .text = lab_kernels().at("reduce_in_groups.cl")}))),
      totals_(session.allocate(groups_ * sizeof(std::uint64_t))) {}

Event GroupReduction::enqueue(Queue& queue, const Buffer& values, std::size_t count) {
  return queue.launch(kernel_, {groups_ * group_size_, 1, group_size_, 1},
                      {values, static_cast<std::int32_t>(count), totals_});
}

template <typename Total>
std::vector<Total> GroupReduction::totals(Queue& queue) const {
  std::vector<Total> totals(groups_);
  queue.download(totals_, totals.data(), totals.size() * sizeof(Total));
  queue.finish();
  return totals;
}

std::uint64_t GroupReduction::integer(Queue& queue) const {
  // The kernel's numbers are signed, but sums and products may overflow 64 bits, which only
  // unsigned numbers may.
  if (is_wide(operation_)) return combined(operation_, totals<std::uint64_t>(queue));
  const std::int32_t result = combined(operation_, totals<std::int32_t>(queue));
  const bool has_sign = operation_ == Operation::minimum || operation_ == Operation::maximum;
  return has_sign ? static_cast<std::uint64_t>(std::int64_t{result})
                  : static_cast<std::uint32_t>(result);
}

float GroupReduction::number(Queue& queue) const {
  return combined(operation_, totals<float>(queue));
}

}  // namespace gpufilter::lab
