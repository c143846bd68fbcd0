// main() of all test programs.
#include <gpufilter/gpufilter.hpp>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
