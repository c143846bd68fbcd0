// What tuning may choose for statistics and matrix products gives the same bits. Compiling all
// candidates would take PoCL minutes: some of each kind are tried here, all of them by `gpufilter
// tune` before it chooses.
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compute/matrix_product.hpp"
#include "compute/picture_reduction.hpp"
#include "lab/forced_tuning.hpp"
#include "support/filtering.hpp"
#include "support/picture_counting.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

// The devices here, as if each were a GPU: with the candidates that only GPUs have.
class Candidates : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& known : test::all_sessions()) {
      DeviceInfo device = known->device();
      device.kind = DeviceKind::gpu;
      sessions_.push_back(std::make_unique<Session>(device, std::nullopt));
      sessions_.back()->set_tuning(tuning_);
    }
    if (sessions_.empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }

  // Calls `check` with every `step`-th candidate of the one site that `ask` asks.
  template <typename Ask, typename Check>
  void for_candidates(const Ask& ask, std::size_t minimum, std::size_t step, const Check& check) {
    ask();
    const auto sites = tuning_->take_sites();
    ASSERT_EQ(sites.size(), 1U);
    const auto& [key, site] = *sites.begin();
    EXPECT_GE(site.candidates.size(), minimum) << key;
    for (std::size_t i = 0; i < site.candidates.size(); i += step) {
      tuning_->force(key, i);
      check(key + ": " + to_string(site.candidates[i]));
    }
    tuning_->force_none();
    static_cast<void>(tuning_->take_sites());
  }

  static PictureStatistics gathered(Session& session, const Image& image, Quantity quantity) {
    Queue queue = session.make_queue();
    const Buffer buffer = session.allocate(image.bytes() + row_slack);
    queue.upload(buffer, image.rows().data, image.bytes());
    PictureReducer reducer(session, image.width(), image.format(), quantity);
    static_cast<void>(reducer.add(queue, {&buffer, {0, image.size().height}}));
    return reducer.result(queue);
  }

  void expect_counted(const Image& image, Quantity quantity, std::size_t minimum,
                      std::size_t step) {
    const PictureStatistics expected = test::counted(image, quantity);
    for (const auto& session : sessions_) {
      const auto ask = [&] {
        static_cast<void>(PictureReducer(*session, image.width(), image.format(), quantity));
      };
      for_candidates(ask, minimum, step, [&](const std::string& name) {
        EXPECT_TRUE(gathered(*session, image, quantity) == expected) << name;
      });
    }
  }

  std::shared_ptr<lab::ForcedTuning> tuning_ = std::make_shared<lab::ForcedTuning>();
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST_F(Candidates, OfTotals) {
  expect_counted(test::random_image({4411, 9}, {4, 8}, 1), Quantity::totals, 6, 5);
  expect_counted(test::random_image({523, 9}, {1, 16}, 2), Quantity::totals, 3, 3);
}

TEST_F(Candidates, OfHistograms) {
  expect_counted(test::random_image({4411, 9}, {2, 8}, 3), Quantity::channel_histograms, 9, 4);
  expect_counted(test::random_image({301, 9}, {3, 8}, 4), Quantity::luma_histogram, 9, 11);
}

// Counters of 16 bits in local memory, for one value alone: a launch is cut where they would end.
TEST_F(Candidates, CountMoreThanTheirCountersHold) {
  for (const ImageSize size : {ImageSize{8192, 1600}, ImageSize{7, 150000}}) {
    Image image(size, {1, 8});
    std::memset(image.rows().data, 77, image.bytes());
    for (const auto& session : sessions_) {
      const Histograms found =
          std::get<Histograms>(gathered(*session, image, Quantity::channel_histograms));
      EXPECT_EQ(found.channels[0][77], size.pixels());
      EXPECT_EQ(found.channels[0][76] + found.channels[0][78], 0U);
    }
  }
}

// Opaque alpha is not taken apart; alpha that is opaque in places is.
TEST_F(Candidates, OfPicturesThatAreOpaqueInPlaces) {
  for (const PixelFormat format : {PixelFormat{4, 8}, {2, 8}, {4, 16}, {2, 16}}) {
    Image image = test::random_image({777, 11}, format, 5);
    for (const auto [x, y] : test::each_pixel({777, 11})) {
      if (y < 4 || x / 64 % 2 == 0)
        test::set_sample(image, x, y, format.channels - 1, format.max_sample());
      for (int c = 0; c < format.channels; ++c)
        test::set_sample(image, x, y, c, test::sample_at(image, x, y, c) | 1U);
    }
    for (const auto& session : sessions_) {
      for (const Quantity quantity : {Quantity::totals, Quantity::channel_histograms}) {
        EXPECT_TRUE(gathered(*session, image, quantity) == test::counted(image, quantity))
            << to_string(format) << ", " << to_string(quantity);
      }
    }
  }
}

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31F;
  return numbers;
}

TEST_F(Candidates, OfMatrixProducts) {
  constexpr int depth = 37;
  for (const int rows : {16, 131}) {
    constexpr int columns = 267;
    const auto m = static_cast<std::size_t>(rows);
    const auto a = random_numbers(m * depth, 1);
    const auto b = random_numbers(std::size_t{depth} * columns, 2);
    std::vector<float> expected(m * columns);
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t column = 0; column < columns; ++column) {
          float& sum = expected[row * columns + column];
          sum = std::fma(a[row * depth + k], b[k * columns + column], sum);
        }
      }
    }
    const MatrixShape shape{rows, columns, depth};
    for (const auto& session : sessions_) {
      const auto make = [&] { return MatrixProduct(*session, {.typical = shape}); };
      Queue queue = session->make_queue();
      const Buffer of_a = session->allocate(a.size() * 4);
      const Buffer of_b = session->allocate(b.size() * 4);
      const Buffer of_c = session->allocate(expected.size() * 4);
      queue.upload(of_a, a.data(), of_a.size());
      queue.upload(of_b, b.data(), of_b.size());
      for_candidates(
          [&] { static_cast<void>(make()); }, 6, 8,
          [&](const std::string& name) {
            std::vector<float> found(expected.size(), NAN);
            queue.upload(of_c, found.data(), of_c.size());
            static_cast<void>(make().enqueue(queue, {of_a, of_b, of_c}, shape, Activation::none));
            queue.download(of_c, found.data(), of_c.size());
            queue.finish();
            EXPECT_EQ(std::memcmp(found.data(), expected.data(), of_c.size()), 0) << name;
          });
    }
  }
}

}  // namespace
}  // namespace gpufilter
