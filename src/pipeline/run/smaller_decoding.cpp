#include "pipeline/run/smaller_decoding.hpp"

namespace gpufilter {
namespace {

// The number of stages that only turn the picture; `size` becomes that of their result.
std::size_t count_turns(const StageChain& chain, ImageSize& size) {
  std::size_t count = 0;
  for (; count < chain.size(); ++count) {
    const auto placement = chain[count]->placement(size);
    if (!placement || placement->size != size) break;
    size = placement->result_size();
  }
  return count;
}

}  // namespace

int decoding_divisor(const StageChain& chain, ImageSize size,
                     const std::vector<ChainOutput>& outputs, const std::vector<bool>& ignored) {
  const std::size_t turns = count_turns(chain, size);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].stages <= turns && !ignored[i]) return 1;
  }
  return turns == chain.size() ? 1 : chain[turns]->decoding_divisor(size);
}

StageChain chain_after_smaller_decoding(const StageChain& chain, ImageSize size, int divisor) {
  StageChain result = chain;
  auto& stage = result[count_turns(chain, size)];
  stage = stage->after_smaller_decoding(size, divisor);
  return result;
}

int decode_smaller(PictureInput& input, StageChain& chain, const std::vector<ChainOutput>& outputs,
                   const std::vector<bool>& ignored) {
  const ImageSize size = input.header().size;
  const int largest = decoding_divisor(chain, size, outputs, ignored);
  if (largest == 1) return 1;
  const int divisor = input.decode_smaller(largest);
  if (divisor > 1) chain = chain_after_smaller_decoding(chain, size, divisor);
  return divisor;
}

}  // namespace gpufilter
