#include <gtest/gtest.h>

#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

TEST(Luma, OfGreyIsTheGreyItself) {
  for (std::uint32_t v = 0; v <= 65535; ++v) {
    ASSERT_EQ(luma_bt709(v, v, v), v);
    ASSERT_EQ(luma_bt601(v, v, v), v);
  }
}

TEST(Luma, HasTheWeightsOfItsStandardAndIsRounded) {
  EXPECT_EQ(luma_bt709(255, 0, 0), 54U);       // 54.213
  EXPECT_EQ(luma_bt709(0, 255, 0), 182U);      // 182.376
  EXPECT_EQ(luma_bt709(0, 0, 255), 18U);       // 18.411
  EXPECT_EQ(luma_bt709(65535, 0, 0), 13933U);  // 13932.741
  EXPECT_EQ(luma_bt601(255, 0, 0), 76U);       // 76.245
  EXPECT_EQ(luma_bt601(0, 255, 0), 150U);      // 149.685
  EXPECT_EQ(luma_bt601(0, 0, 255), 29U);       // 29.07
  EXPECT_EQ(luma_bt601(0, 65535, 0), 38469U);  // 38469.045
}

}  // namespace
}  // namespace gpufilter
