// The main command line, and the pictures that it should write.
#pragma once

#include "cli/program_fixture.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"

namespace gpufilter::test {

class FilterTest : public ProgramTest {
 protected:
  [[nodiscard]] static Image blurred(const Image& image, const BlurParameters& parameters = {},
                                     std::size_t times = 1) {
    return filter_on_host(image, StageChain(times, make_blur(parameters)), {});
  }
};

}  // namespace gpufilter::test
