// include/gpufilter/stages.hpp is what the stages declare.
#include <gtest/gtest.h>

#include "manual/stage_sources.hpp"
#include "support/pictures.hpp"

namespace gpufilter::manual {
namespace {

TEST(StageHeader, IsUpToDate) {
  EXPECT_EQ(test::read_file(GPUFILTER_SOURCE "/include/gpufilter/stages.hpp"), stage_header())
      << "copy manual/stages.hpp from the build folder to include/gpufilter";
}

}  // namespace
}  // namespace gpufilter::manual
