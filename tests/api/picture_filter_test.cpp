// The library's public interface.

#include <gpufilter/gpufilter.hpp>

#include "codec/formats.hpp"
#include "pipeline/run/run.hpp"
#include "support/oriented_files.hpp"

namespace gpufilter {
namespace {

std::string complaint(const std::vector<StageUse>& stages) {
  return test::objection_to([&] { const PictureFilter filter(stages); }, "");
}

struct PictureFilterTest : ::testing::Test {
  PictureFilterTest() { test::write_png(image_, in_); }

  test::TemporaryFolder folder_;
  std::string in_ = folder_ / "in.png";
  std::string out_ = folder_ / "out.png";
  Image image_ = test::random_image({37, 21}, {4, 16}, 5);
};

TEST_F(PictureFilterTest, FiltersAsThePipelineDoes) {
  Engine reference({{std::nullopt, "for comparison"}}, {});
  const std::string expected = folder_ / "expected.png";
  const auto blur = make_blur({.border = Border::mirror});
  static_cast<void>(
      filter_picture(in_, {expected, &png_codec()}, {blur, blur}, reference, RunOptions{}));

  PictureFilter filter(
      {{"blur", "auto", {{"border", "mirror"}}}, {"blur", "auto", {{"border", "mirror"}}}});
  PictureFilter moved = std::move(filter);
  for (int round = 0; round < 2; ++round) {
    const FilterResult result = moved.run(in_, out_);
    EXPECT_EQ(test::read_file(out_), test::read_file(expected));
    EXPECT_EQ(result.width, 37);
    EXPECT_EQ(result.height, 21);
    EXPECT_EQ(result.output_bytes, test::read_file(out_).size());
    EXPECT_NE(result.device, "");
    EXPECT_NE(result.reason, "");
    EXPECT_GT(result.seconds, 0);
  }
}

TEST_F(PictureFilterTest, WithoutStagesOnlyConverts) {
  const Image plain = test::poisoned_image({37, 21}, {3, 8});
  test::write_png(plain, in_);
  PictureFilter filter({});
  static_cast<void>(filter.run(in_, out_, {{"png-level", "0"}}));
  const auto largest = test::read_file(out_).size();
  EXPECT_TRUE(test::same_pixels(test::read_picture(out_), plain));
  static_cast<void>(filter.run(in_, out_, {{"png-level", "9"}}));
  EXPECT_LT(test::read_file(out_).size(), largest);
}

TEST_F(PictureFilterTest, TurnsPicturesUprightAsForFiles) {
  test::write_oriented(image_, in_, 6);
  const Picture picture = read(in_);
  const auto size_by = [&](const PictureFilter& filter, const auto& input) {
    const Picture result = filter.run(input);
    return std::tuple(result.shape().width, result.shape().height, result.orientation());
  };
  const PictureFilter filter({resize{"x10"}});
  EXPECT_EQ(size_by(filter, picture), std::tuple(6, 10, 1));
  EXPECT_EQ(size_by(filter, picture.view()), std::tuple(18, 10, 1)) << "no metadata";
  EXPECT_EQ(filter.result_shape(picture).width, 6);
  Picture into(Shape{6, 10, 4, 16});
  filter.run(picture, into.view());
  EXPECT_EQ(compare(into, filter.run(picture)).verdict, Differences::Verdict::equal);
  into.set_orientation(5);
  filter.run(picture, into);
  EXPECT_EQ(into.orientation(), 1) << "its metadata are those of the result";
  EXPECT_EQ(into.file_format(), "PNG");
  const PictureFilter keeping({resize{"x10"}}, {.orientation = "keep"});
  EXPECT_EQ(size_by(keeping, picture), std::tuple(18, 10, 6));
  static_cast<void>(filter.run(in_, out_));
  EXPECT_EQ(test::read_picture(out_).size(), (ImageSize{6, 10}));
  try {
    const PictureFilter wrong({}, FilterSettings{.orientation = "up"});
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("orientation: ")) << error.what();
  }
}

TEST_F(PictureFilterTest, ServesManyThreadsAtOnce) {
  test::write_png(test::random_image({301, 200}, {3, 8}, 5), in_);
  PictureFilter alone({{"blur", "auto"}}, "cpu");
  static_cast<void>(alone.run(in_, out_));
  const std::string expected = test::read_file(out_);
  for (const char* device : {"cpu", "auto", "all"}) {
    PictureFilter filter({{"blur", "auto"}}, device);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, out = folder_ / (std::to_string(i) + ".png")] {
        for (int round = 0; round < 5; ++round) {
          static_cast<void>(filter.run(in_, out));
          EXPECT_EQ(test::read_file(out), expected);
        }
      });
    }
  }
}

TEST_F(PictureFilterTest, WhatDoesNotExistIsNamed) {
  EXPECT_EQ(complaint({{"stipple", "1"}}), "'stipple' is not a stage");
  EXPECT_EQ(complaint({{"--blur", "auto"}}), "'--blur' is not a stage");
  EXPECT_EQ(complaint({{"blur", "x"}}), "blur x: choose naive, tiled or auto");
  EXPECT_EQ(complaint({{"blur", "auto", {{"radius", "2"}}}}),
            "radius 2: blur auto does not take it");
  EXPECT_EQ(complaint({{"blur", "auto", {{"border", "x"}}}}),
            "border x: choose replicate, mirror, wrap or constant");
  PictureFilter filter({});
  EXPECT_THROW(filter.run(in_, out_, {{"effort", "3"}}), UsageError);
  EXPECT_THROW(filter.run(in_, out_, {{"png-level", "10"}}), UsageError);
  EXPECT_THROW(filter.run(in_, folder_ / "out.gif"), UsageError);
  EXPECT_THROW(filter.run(folder_ / "none.png", out_), PictureError);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace gpufilter
