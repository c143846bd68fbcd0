// The public interface on pixels in memory.

#include <gpufilter/gpufilter.hpp>

#include "api/picture_state.hpp"
#include "api/views.hpp"

namespace gpufilter {
namespace {

using test::view_of;

ConstRows rows_of(const Picture& picture) {
  return {static_cast<const std::uint8_t*>(picture.data()),
          picture.pitch(),
          {0, picture.height()},
          picture.width(),
          {picture.channels(), picture.depth()}};
}

template <typename Call>
std::string usage_error(const Call& call) {
  return test::objection_to([&] { call(); }, "");
}

// A picture in a file and in memory.
struct MemoryTest : ::testing::Test {
  // The pipeline's result for a file.
  Image from_file(const std::vector<StageUse>& stages, const Image& picture) {
    test::write_png(picture, in_);
    static_cast<void>(PictureFilter(stages, "cpu").run(in_, out_));
    return test::read_picture(out_);
  }

  test::TemporaryFolder folder_;
  std::string in_ = folder_ / "in.png";
  std::string out_ = folder_ / "out.png";
};

TEST_F(MemoryTest, GivesTheBitsOfFilesOnOpenClDevicesToo) {
  const std::vector<std::vector<StageUse>> chains{
      {},
      {blur{.border = "mirror"}, color{"sepia"}},
      {levels{}, rotate{90}, gaussian{1.5}},
      {linear{}, resize{"50%"}, encoded{}},
      parse_stages("--border wrap --blur auto --sharpen 2 --luma-only yes --flop")};
  for (const auto& [chain, format] : test::each_of(chains, test::Formats{{3, 8}, {4, 16}})) {
    const Image picture = test::random_image({131, 77}, format, 3);
    const Image expected = from_file(chain, picture);
    for (const char* device : {"cpu", "auto"}) {
      const PictureFilter filter(chain, device);
      EXPECT_TRUE(test::same_pixels(rows_of(filter.run(view_of(picture))), expected.rows()));
      Image target = test::poisoned_image(expected.size(), expected.format());
      const FilterResult result = filter.run(view_of(picture), view_of(target));
      EXPECT_TRUE(test::same_pixels(target, expected));
      EXPECT_EQ(result.width, expected.width());
      EXPECT_EQ(result.height, expected.size().height);
      EXPECT_EQ(result.channels, expected.format().channels);
      EXPECT_EQ(result.depth, expected.format().depth);
      EXPECT_EQ(filter.result_shape({131, 77, format.channels, format.depth}),
                (Shape{result.width, result.height, result.channels, result.depth}));
    }
  }
  const Image picture = test::random_image({131, 301}, {3, 8}, 3);
  const std::vector<StageUse> chain{blur{}, tonemap{"reinhard"}, rotate{180}};
  const PictureFilter filter(chain, "opencl");
  EXPECT_TRUE(
      test::same_pixels(rows_of(filter.run(view_of(picture))), from_file(chain, picture).rows()));
}

// Two pictures in one memory, one after the other or the same.
TEST_F(MemoryTest, OverlappingMemoryIsReadBeforeItIsWritten) {
  const Image picture = test::random_image({64, 64}, {1, 8}, 3);
  const PictureFilter filter({blur{}}, "cpu");
  const Picture expected = filter.run(view_of(picture));
  for (const std::size_t shift : {0U, 64U, 640U}) {
    std::vector<std::uint8_t> memory(64 * 64 + 640);
    std::copy_n(picture.rows().data, 64 * 64, memory.begin());
    const View target{memory.data() + shift, 64, 64, 1};
    static_cast<void>(filter.run(ConstView{memory.data(), 64, 64, 1}, target));
    EXPECT_EQ(compare(expected, target).verdict, Differences::Verdict::equal) << shift;
  }
}

TEST_F(MemoryTest, SaysWhatIsWrongWithAView) {
  const PictureFilter filter({gray{}}, "cpu");
  std::vector<std::uint16_t> memory(1000);
  const auto run = [&](const ConstView& view) {
    return usage_error([&] { static_cast<void>(filter.run(view)); });
  };
  EXPECT_EQ(run({memory.data(), 0, 3}), "a picture of 0 x 3 pixels has no pixels");
  EXPECT_EQ(run({memory.data(), 3, 3, 5}),
            "5 channels; a picture has 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA)");
  EXPECT_EQ(run({memory.data(), 3, 3, 3, 64}), "samples of 64 bits; choose 8, 16 or 32 (float)");
  EXPECT_EQ(run({nullptr, 3, 3}), "a view without memory: data is nullptr");
  EXPECT_EQ(run({memory.data(), 3, 3, 3, 8, 8}),
            "a pitch of 8 bytes; a row of 3 x 3, RGB, 8-bit takes 9");
  EXPECT_EQ(run({reinterpret_cast<char*>(memory.data()) + 1, 3, 3, 3, 16}),
            "samples of 16 bits at addresses that are not multiples of 2; copy them");
  EXPECT_EQ(run({memory.data() + 1, 3, 3, 3, 32}),
            "samples of 32 bits at addresses that are not multiples of 4; copy them");
  EXPECT_EQ(run({memory.data(), 3, 3, 3, 16, 19}),
            "samples of 16 bits at addresses that are not multiples of 2; copy them");
  EXPECT_EQ(
      usage_error([&] {
        static_cast<void>(filter.run(ConstView{memory.data(), 3, 3}, View{memory.data(), 3, 3}));
      }),
      "the result is 3 x 3, grey, 8-bit; there is memory for 3 x 3, RGB, 8-bit");
  EXPECT_EQ(usage_error([&] { static_cast<void>(filter.run(Picture())); }),
            "a picture without pixels");
  EXPECT_EQ(run({memory.data(), 2147483647, 2147483647, 4, 16}),
            "a picture of 2147483647 x 2147483647 pixels: no memory is that large");
  EXPECT_EQ(usage_error([] {
              static_cast<void>(Picture(Shape{1, 0}));
            }),
            "a picture of 1 x 0 pixels has no pixels");
}

TEST_F(MemoryTest, RefusesWhatExceedsTheLimits) {
  const Image picture = test::random_image({20, 20}, {1, 8}, 3);
  const auto run = [&](const StageUse& stage) {
    const PictureFilter filter({stage}, FilterSettings{.limits = {.max_pixels = 400}});
    static_cast<void>(filter.run(view_of(picture)));
  };
  run(resize{"20x20"});
  EXPECT_THROW(run(resize{"21x20!"}), PictureError);
  EXPECT_THROW(run(pad{"1"}), PictureError);
  EXPECT_THROW(static_cast<void>(stats(view_of(picture), {.max_pixels = 399})), PictureError);
  EXPECT_THROW(static_cast<void>(
                   compare(view_of(picture), view_of(picture), {.limits = {.max_pixels = 399}})),
               PictureError);
  EXPECT_THROW(PictureFilter({}, FilterSettings{.limits = {.threads = -1}}), UsageError);
}

TEST_F(MemoryTest, EachNumberOfThreadsGivesTheSameBits) {
  const Image picture = test::random_image({701, 503}, {3, 8}, 3);
  const std::vector<StageUse> chain{gaussian{2.0}, levels{}, median{2}};
  const Picture expected = PictureFilter(chain, "cpu").run(view_of(picture));
  for (const int threads : {1, 2, 3, 64}) {
    const PictureFilter filter(chain,
                               FilterSettings{.device = "cpu", .limits = {.threads = threads}});
    EXPECT_EQ(compare(filter.run(view_of(picture)), expected).verdict, Differences::Verdict::equal);
    test::write_png(picture, in_);
    static_cast<void>(filter.run(in_, out_));
    EXPECT_TRUE(test::same_pixels(test::read_picture(out_).rows(), rows_of(expected)));
  }
}

TEST_F(MemoryTest, ServesManyThreadsAtOnce) {
  std::vector<Image> pictures;
  std::vector<Picture> expected;
  const std::vector<StageUse> chain{blur{}, gamma{1.4}, sharpen{1.0}};
  for (int i = 0; i < 24; ++i)  // more shapes than are kept
    pictures.push_back(test::random_image({50 + i, 90 - i}, {1 + i % 4, i % 2 == 0 ? 8 : 16}, 9));
  for (const Image& picture : pictures)
    expected.push_back(PictureFilter(chain, "cpu").run(view_of(picture)));
  const PictureFilter filter(chain, "cpu");
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 3 * pictures.size(); ++i) {
        const std::size_t n = (i * (t + 1)) % pictures.size();
        const Picture found = filter.run(view_of(pictures[n]));
        EXPECT_TRUE(test::same_pixels(rows_of(found), rows_of(expected[n])));
        EXPECT_EQ(stats(found).channels[0].sum, stats(expected[n]).channels[0].sum);
      }
    });
  }
}

TEST_F(MemoryTest, CallbacksWatchAndStopEveryKindOfCall) {
  const Image picture = test::random_image({1500, 1100}, {3, 8}, 3);
  test::write_png(picture, in_);
  const PictureFilter filter({blur{}, levels{}}, "cpu");
  const std::vector<std::function<void(const RunControl&)>> calls{
      [&](const RunControl& control) { static_cast<void>(filter.run(view_of(picture), control)); },
      [&](const RunControl& control) { static_cast<void>(filter.run(in_, out_, {}, control)); },
      [&](const RunControl& control) { static_cast<void>(read(in_, {}, control)); },
      [&](const RunControl& control) { write(out_, view_of(picture), {}, control); },
      [&](const RunControl& control) { static_cast<void>(stats(in_, {}, control)); },
      [&](const RunControl& control) { static_cast<void>(stats(view_of(picture), {}, control)); },
      [&](const RunControl& control) { static_cast<void>(compare(in_, in_, {}, control)); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, std::to_string(i));
    double last = 0;
    calls[i]({.progress = [&](double done) {
      EXPECT_GE(done, last);
      last = done;
    }});
    EXPECT_DOUBLE_EQ(last, 1);
    test::write_file(out_, "as before");
    std::stop_source stop;
    EXPECT_THROW(
        calls[i]({.progress = [&](double) { stop.request_stop(); }, .stop = stop.get_token()}),
        Stopped);
    EXPECT_EQ(test::read_file(out_), "as before");
    EXPECT_THROW(calls[i]({.progress = [](double) { throw std::domain_error("enough"); }}),
                 std::domain_error);
  }
}

TEST_F(MemoryTest, PicturesCopyAndMove) {
  const Image image = test::random_image({5, 3}, {3, 16}, 1);
  Picture picture(view_of(image));
  EXPECT_EQ(picture.pitch(), 30U);
  EXPECT_TRUE(test::same_pixels(rows_of(picture), image.rows()));
  const Picture twin = picture.copy();
  picture.row<std::uint16_t>(2)[14] ^= 1U;
  EXPECT_TRUE(test::same_pixels(rows_of(twin), image.rows()));
  EXPECT_EQ(compare(twin, picture).differing_pixels, 1U);
  const Picture moved = std::move(picture);
  EXPECT_EQ(compare(twin, moved).worst->x, 4);
  EXPECT_EQ(picture.shape(), Picture().shape());  // NOLINT: that is what is promised
  EXPECT_EQ(picture.data(), nullptr);             // NOLINT
  EXPECT_EQ(stats(Picture(Shape{2, 2, 4, 8})).channels.at(3).sum, 0U);
}

}  // namespace
}  // namespace gpufilter
