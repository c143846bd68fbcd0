#include "batch/output_name.hpp"

#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"

namespace gpufilter {
namespace {

TEST(OutputName, StaysTheSameWithoutAFormat) {
  for (const char* name : {"a.png", "sub/a.JPG", "noending", "a.dat"})
    EXPECT_EQ(output_name(name, nullptr), name);
}

TEST(OutputName, StaysTheSameIfItHasTheFormatsExtension) {
  EXPECT_EQ(output_name("a.PNG", &png_codec()), "a.PNG");
  EXPECT_EQ(output_name("a.jpeg", &jpeg_codec()), "a.jpeg");
}

TEST(OutputName, ReplacesTheExtensionOfAnotherFormat) {
  EXPECT_EQ(output_name("sub.png/a.png", &jpeg_codec()), "sub.png/a.jpg");
  EXPECT_EQ(output_name("a.b.JPEG", &png_codec()), "a.b.png");
}

TEST(OutputName, AppendsAnExtensionToOtherNames) {
  EXPECT_EQ(output_name("holiday.2024", &png_codec()), "holiday.2024.png");
  EXPECT_EQ(output_name("sub.png/a", &jpeg_codec()), "sub.png/a.jpg");
}

}  // namespace
}  // namespace gpufilter
