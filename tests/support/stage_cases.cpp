#include "support/stage_cases.hpp"

#include "support/instruction_sets.hpp"

namespace gpufilter::test {
namespace {

std::string case_of(const Image& image, const StageChain& chain, int band_rows) {
  std::string text;
  for (const auto& stage : chain)
    text += stage->key() + ", ";
  return text + formatted("{}, {}x{}, bands of {}", to_string(image.format()), image.width(),
                          image.size().height, band_rows);
}

// The first chain that the `n`th format meets; the others follow in steps of `share`.
std::size_t first_chain(std::size_t n, std::size_t share) {
  const std::size_t group = share == 2 ? n / 2 + n / 4 : n < 4 ? n : n ^ 1U;
  return (share - group % share) % share;
}

}  // namespace

std::vector<PixelFormat> all_formats() {
  std::vector<PixelFormat> all;
  for (const auto& [depth, channels] : each_of(std::array{8, 16}, std::array{1, 2, 3, 4}))
    all.push_back({channels, depth});
  return all;
}

std::vector<Image> different_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures;
  pictures.push_back(random_image(size, format, 1));
  pictures.push_back(extreme_image(size, format, 2));
  if (format.has_alpha()) {
    pictures.push_back(mixed_alpha_image(size, format, 3));
    pictures.push_back(opaque_image(size, format, 4));
  }
  return pictures;
}

std::vector<Image> window_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures = different_pictures(size, format);
  if (format.has_alpha()) pictures.push_back(cut_out_image(size, format, 5));
  return pictures;
}

std::vector<Image> window_pictures_and_dull(ImageSize size, PixelFormat format,
                                            std::uint32_t part) {
  std::vector<Image> pictures = window_pictures(size, format);
  Image& dull = pictures.emplace_back(random_image(size, format, 7));
  const auto range = static_cast<std::uint32_t>(format.max_sample()) / part;
  for (const auto [x, y, c] : each_sample(size, format.channels))
    set_sample(dull, x, y, c, sample_at(dull, x, y, c) % range + 4 * range);
  return pictures;
}

std::vector<Image> random_picture(ImageSize size, PixelFormat format) {
  std::vector<Image> one;
  one.push_back(random_image(size, format, 1));
  return one;
}

std::vector<Image> mixed_picture(ImageSize size, PixelFormat format) {
  if (!format.has_alpha()) return random_picture(size, format);
  std::vector<Image> one;
  one.push_back(mixed_alpha_image(size, format, 3));
  return one;
}

std::vector<Image> pictures_with_a_speck(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures = random_picture(size, format);
  if (!format.has_alpha()) return pictures;
  pictures.push_back(mixed_alpha_image(size, format, 3));
  pictures.push_back(opaque_image(size, format, 4));
  pictures.push_back(opaque_image(size, format, 5));
  set_sample(pictures.back(), size.width / 2, 0, format.channels - 1, 3);
  return pictures;
}

void check_on_host(const Image& image, const StageChain& chain, const Image& expected,
                   const std::vector<int>& band_rows, RowEnds ends) {
  if (::testing::Test::HasFatalFailure()) return;
  with_each_instruction_set([&] {
    for (const int rows : band_rows) {
      const Image result = filter_on_host(image, chain, {.band_rows = rows});
      ASSERT_TRUE(same_pixels(result, expected)) << case_of(image, chain, rows);
      if (ends == RowEnds::hold) {
        ASSERT_TRUE(padding_holds(result.rows()));
      }
    }
  });
}

void check_on_device(Session& session, const Image& image, const StageChain& chain,
                     const Image& expected, const std::vector<int>& band_rows) {
  if (::testing::Test::HasFatalFailure()) return;
  for (const int rows : band_rows) {
    ASSERT_TRUE(same_pixels(filter_on_device(session, image, chain, {.band_rows = rows}), expected))
        << session.device().name << ", " << case_of(image, chain, rows);
  }
}

std::string objection_to_value(const StageKind& kind, const std::string& value,
                               const GivenParameters& given) {
  return objection_to([&] { return kind.make(value, given); });
}

void expect_values(const StageKind& kind, const Words& taken, const Words& refused) {
  for (const std::string& value : taken)
    EXPECT_EQ(objection_to_value(kind, value), "none") << value;
  for (const std::string& value : refused)
    EXPECT_NE(objection_to_value(kind, value), "none") << value;
}

void expect_the_processors_bits(const std::vector<ChainInTurn>& chains, const DeviceCases& cases) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  std::vector<std::size_t> met(chains.size());  // formats
  std::size_t with_alpha = 0;
  for (std::size_t n = 0; n < cases.formats.size(); ++n) {
    const PixelFormat& format = cases.formats[n];
    const auto sessions = cases.as_both ? kernel_sessions() : kernel_sessions(format);
    for (std::size_t i = first_chain(n, cases.share); i < chains.size(); i += cases.share) {
      const std::size_t turn = met[i]++;  // four turns have four borders, two very different ones
      const bool weighted = !format.has_alpha() || with_alpha++ % 3 != 2;
      const StageChain chain = chains[i](all_borders.at((i + 2 * turn + turn / 2) % 4),
                                         weighted ? AlphaMode::weighted : AlphaMode::independent);
      for (const ImageSize& size : cases.sizes) {
        for (const Image& image : cases.pictures(size, format)) {
          const Image expected = stage_by_stage(image, chain);
          for (const int rows : cases.bands) {
            if (chain.size() == 1) break;  // bands of one stage are compared in its own tests
            ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected))
                << case_of(image, chain, rows);
          }
          for (Session* session : sessions)
            check_on_device(*session, image, chain, expected, cases.bands);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace gpufilter::test
