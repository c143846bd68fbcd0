#include "net/net_fours.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {
namespace {

using std::size_t;

constexpr int outputs_a_block = 4;

// Part i of n; they add up to the weight.
int part_of(int weight, int i, int n) {
  return weight * (i + 1) / n - weight * i / n;
}

int parts_for(const std::vector<std::int16_t>& weights) {
  const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
  int parts = 1;
  while (*least < -128 * parts || *most > 127 * parts)
    ++parts;
  return parts;
}

class FoursPacker {
 public:
  FoursPacker(const NetGraph& graph, const NetOperation& operation)
      : operation_(operation),
        input_(graph.values[static_cast<size_t>(operation.inputs.front())]),
        outputs_(graph.values[static_cast<size_t>(operation.output)].channels),
        group_inputs_(input_.channels / operation.groups),
        group_outputs_(outputs_ / operation.groups) {}

  NetFours packed() {
    NetFours packed;
    packed.parts = parts_for(operation_.integers.weights);
    for (int output = 0; output < outputs_; output += outputs_a_block) {
      const auto [first, end] = planes_of_block(output);
      packed.planes = std::max(packed.planes, end - first);
    }
    for (int output = 0; output < outputs_; output += outputs_a_block) {
      const int first = std::min(planes_of_block(output).first, input_.planes() - packed.planes);
      packed.first_planes.push_back(first);
      add_words(packed, output, first);
      for (int o = output; o < output + outputs_a_block; ++o)
        packed.starts.push_back(start(o));
    }
    return packed;
  }

 private:
  // The first plane that these outputs need, and the end.
  [[nodiscard]] std::pair<int, int> planes_of_block(int output) const {
    const int last = std::min(output + outputs_a_block, outputs_) - 1;
    const int end = (last / group_outputs_ + 1) * group_inputs_;
    return {output / group_outputs_ * group_inputs_ / 4, (end + 3) / 4};
  }

  void add_words(NetFours& packed, int output, int first_plane) const {
    for (int tap = 0; tap < operation_.kernel_height * operation_.kernel_width; ++tap) {
      for (int plane = first_plane; plane < first_plane + packed.planes; ++plane) {
        for (int part = 0; part < packed.parts; ++part) {
          for (int o = output; o < output + outputs_a_block; ++o) {
            std::uint32_t word = 0;
            for (int i = 0; i < 4; ++i) {
              const int number = part_of(weight(o, tap, 4 * plane + i), part, packed.parts);
              word |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(number)) << (8 * i);
            }
            packed.words.push_back(word);
          }
        }
      }
    }
  }

  // 0 where it does not exist. `input`: of all groups.
  [[nodiscard]] int weight(int output, int tap, int input) const {
    if (output >= outputs_) return 0;
    const int i = input - output / group_outputs_ * group_inputs_;
    if (i < 0 || i >= group_inputs_) return 0;
    const int taps = operation_.kernel_height * operation_.kernel_width;
    return operation_.integers
        .weights[static_cast<size_t>((output * taps + tap) * group_inputs_ + i)];
  }

  [[nodiscard]] std::int32_t start(int output) const {
    if (output >= outputs_) return 0;
    const auto& weights = operation_.integers.weights;
    const size_t each = weights.size() / static_cast<size_t>(outputs_);
    std::int32_t sum = 0;
    for (size_t k = 0; k < each; ++k)
      sum += weights[static_cast<size_t>(output) * each + k];
    return operation_.integers.bias[static_cast<size_t>(output)] + input_.low * sum;
  }

  const NetOperation& operation_;
  NetValue input_;
  int outputs_;
  int group_inputs_;
  int group_outputs_;
};

}  // namespace

NetFours net_fours(const NetGraph& graph, const NetOperation& operation) {
  return FoursPacker(graph, operation).packed();
}

}  // namespace gpufilter
