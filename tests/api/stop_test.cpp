// A stop ends its own call, whatever other calls share the filter and oneTBB's threads with it.
#include <stop_token>

#include <gpufilter/gpufilter.hpp>

#include "api/views.hpp"

namespace gpufilter {
namespace {

using test::view_of;

TEST(StopTest, EndsOneOfSeveralCalls) {
  const test::TemporaryFolder folder;
  // Several blocks, so that a stop finds more work.
  const Image image = test::random_image({400, 1600}, {3, 8}, 4);
  const std::string in = folder / "in.png";
  test::write_png(image, in);
  const std::vector<StageUse> chain{median{4}, gaussian{3.0}};
  const PictureFilter filter(chain, "cpu");
  const Picture expected = PictureFilter(chain, "cpu").run(view_of(image));
  // Requests a stop as soon as something is done.
  const auto stops = [](const std::function<void(const RunControl&)>& call) {
    std::stop_source stop;
    EXPECT_THROW(call({.progress = [&](double) { stop.request_stop(); }, .stop = stop.get_token()}),
                 Stopped);
  };
  const auto call_often = [&](int number) {
    const std::string out = folder / (std::to_string(number) + ".png");
    const std::stop_source never;
    const RunControl control{.stop = never.get_token()};
    for (int round = 0; round < 6; ++round) {
      switch ((number + round) % 4) {
        case 0:
          stops([&](const RunControl& stopped) {
            static_cast<void>(filter.run(view_of(image), stopped));
          });
          break;
        case 1:
          stops([&](const RunControl& stopped) { filter.run(in, out, {}, stopped); });
          EXPECT_FALSE(std::filesystem::exists(out));
          break;
        case 2:
          EXPECT_EQ(compare(filter.run(view_of(image), control), expected).verdict,
                    Differences::Verdict::equal);
          break;
        default:
          filter.run(in, out, {{"png-level", "1"}}, control);
          EXPECT_EQ(compare(read(out), expected).verdict, Differences::Verdict::equal);
          std::filesystem::remove(out);
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { call_often(i); });
}

// A processor under OpenCL divides launches that take long, if the call can be stopped.
TEST(StopTest, ChangesNoBitOnDevices) {
  const std::vector<StageUse> chain{median{16}};
  const PictureFilter filter(chain, FilterSettings{.device = "opencl", .require_device = true});
  const Image image = test::random_image({201, 340}, {3, 16}, 6);
  const std::stop_source never;
  Picture found;
  try {
    found = filter.run(view_of(image), {.stop = never.get_token()});
  } catch (const DeviceError& error) {
    GTEST_SKIP() << "skipped: " << error.what();
  }
  const Picture expected = PictureFilter(chain, "cpu").run(view_of(image));
  EXPECT_EQ(compare(found, expected).verdict, Differences::Verdict::equal);
  EXPECT_EQ(compare(filter.run(view_of(image)), expected).verdict, Differences::Verdict::equal);
}

}  // namespace
}  // namespace gpufilter
