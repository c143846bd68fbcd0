#include "app/cli/left_out_tally.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(LeftOut, OfOnePictureIsListed) {
  EXPECT_EQ(left_out_warning({}), "");
  EXPECT_EQ(left_out_warning({"gamma", "XMP (9 bytes are too many)"}),
            "not carried over: gamma, XMP (9 bytes are too many)");
  EXPECT_EQ(left_out_warning({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}),
            "not carried over: 1, 2, 3, 4, 5, 6, 7, 8, 2 more");
}

TEST(LeftOut, OfSeveralIsCounted) {
  LeftOutTally tally;
  EXPECT_TRUE(tally.names().empty());
  tally.add({"gamma"});
  tally.add({});
  tally.add({"XMP", "gamma"});
  EXPECT_EQ(tally.names(), (std::vector<std::string>{"gamma (2 pictures)", "XMP (1 picture)"}));
}

}  // namespace
}  // namespace gpufilter
