#include "batch/output_name.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(OutputName, StaysWithoutAFormat) {
  for (const char* name : {"a.png", "sub/a.JPG", "noending", "a.dat"})
    EXPECT_EQ(output_name(name, std::nullopt), name);
}

TEST(OutputName, StaysWhereItSaysTheFormatAlready) {
  EXPECT_EQ(output_name("a.PNG", FileFormat::png), "a.PNG");
  EXPECT_EQ(output_name("a.jpeg", FileFormat::jpeg), "a.jpeg");
}

TEST(OutputName, ChangesTheEndingOfAnotherFormat) {
  EXPECT_EQ(output_name("sub.png/a.png", FileFormat::jpeg), "sub.png/a.jpg");
  EXPECT_EQ(output_name("a.b.JPEG", FileFormat::png), "a.b.png");
}

TEST(OutputName, AddsOneToWhatIsNoEndingOfAFormat) {
  EXPECT_EQ(output_name("holiday.2024", FileFormat::png), "holiday.2024.png");
  EXPECT_EQ(output_name("sub.png/a", FileFormat::jpeg), "sub.png/a.jpg");
}

}  // namespace
}  // namespace gpufilter
