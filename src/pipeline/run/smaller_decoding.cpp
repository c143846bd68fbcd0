#include "pipeline/run/smaller_decoding.hpp"

namespace gpufilter {

int decoding_divisor(const LoweredChain& chain, PictureShape shape,
                     const std::vector<ChainOutput>& outputs, const std::vector<bool>& ignored) {
  const std::size_t turns = count_turns(chain, shape);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].stages <= turns && !ignored[i]) return 1;
  }
  return turns == chain.size() ? 1 : chain[turns].decoding_divisor;
}

int decode_smaller(PictureInput& input, LoweredChain& chain,
                   const std::vector<ChainOutput>& outputs, const std::vector<bool>& ignored) {
  const PictureShape whole = input.shape();
  const int largest = decoding_divisor(chain, whole, outputs, ignored);
  if (largest == 1) return 1;
  const int divisor = input.decode_smaller(largest);
  if (divisor > 1) lower_for_smaller(chain, whole, input.shape(), divisor);
  return divisor;
}

}  // namespace gpufilter
