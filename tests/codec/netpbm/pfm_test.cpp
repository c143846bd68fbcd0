// PFM, byte by byte, and floats in every format that holds them.

#include "codec/formats.hpp"
#include "image/float_samples.hpp"
#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_literals;
using Words = std::vector<std::uint32_t>;

Words words_in(const Image& image) {
  Words words;
  for (const auto [x, y, c] : each_sample(image))
    words.push_back(sample_at(image, x, y, c));
  return words;
}

// A word in either order of bytes.
std::string text_of(std::uint32_t word, bool little) {
  std::string text;
  for (unsigned i = 0; i < 4; ++i)
    text += static_cast<char>(word >> (little ? 8 * i : 24 - 8 * i));
  return text;
}

const ReadLimits as_floats{.keeps_floats = true};

TEST(Pfm, IsReadFromTheBottomUpInEitherOrderOfBytes) {
  const Words words{bits_of(0.5F), 0xffc12345U, bits_of(-3), bits_of(1e-40F)};
  for (const bool little : {true, false}) {
    std::string file = "Pf\n2 2\n"s + (little ? "-1.0\n" : "2.5 ");
    for (const std::size_t i : {2, 3, 0, 1})
      file += text_of(words[i], little);
    const Decoded decoded = decode(bytes_of(file), as_floats, 1);
    EXPECT_EQ(words_in(decoded.image), words);
    EXPECT_EQ(decoded.header.format, (PixelFormat{1, float_depth}));
    EXPECT_EQ(to_string(decoded.header.file_pixels), "grey, 32-bit float");
    EXPECT_EQ(why_refused(bytes_of(file.substr(0, file.size() - 1)), as_floats),
              "in: the file ends too early");
  }
  const std::string row = text_of(bits_of(1), true) + text_of(0, true) + text_of(1, true);
  EXPECT_EQ(words_in(decode(bytes_of("PF 1\t1\r-1\n" + row), as_floats).image),
            (Words{bits_of(1), 0, 1}));
}

TEST(Pfm, IsReadAsSixteenBitsUnlessFloatsAreAskedFor) {
  std::string file = "Pf\n5 1\n-1\n";
  for (const float value : {-0.5F, 0.25F, 1.0F, 2.0F, std::nanf("")})
    file += text_of(bits_of(value), true);
  ::testing::internal::CaptureStderr();
  const Image image = decode(bytes_of(file)).image;
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "gpufilter: warning: in: its 32-bit floating-point samples become samples of 16 bits, "
            "0 to 1 the whole range; others, from -0.5 to 2, are clipped: --range chooses another "
            "range; --depth float as the first stage keeps them\n");
  std::vector<std::uint32_t> samples;
  for (int x = 0; x < 5; ++x)
    samples.push_back(sample_at(image, x, 0, 0));
  EXPECT_EQ(samples, (std::vector<std::uint32_t>{0, 16384, 65535, 65535, 0}));
}

TEST(Pfm, WithADamagedHeaderIsRefused) {
  for (const char* header : {"Pf\n0 1\n-1\n", "Pf\n1 x\n-1\n", "Pf\n1 1\n0\n", "Pf\n1 1\nnan\n",
                             "Pf\n1 1\n-1", "Pf\n99999999999 1\n-1\n"})
    EXPECT_NE(why_refused(bytes_of(header), as_floats).find("damaged PFM: "), std::string::npos)
        << header;
}

TEST(FloatFiles, HoldEveryBit) {
  for (const Codec* codec : codecs()) {
    if (codec->max_depth < float_depth) continue;
    for (int channels = 1; channels <= (codec->holds_alpha ? 4 : 3); ++channels) {
      if (channels == 2 && !codec->holds_alpha) continue;
      const Image image = random_image({67, 13}, {channels, float_depth}, 5);
      const Decoded decoded = decode(encode(*codec, image, {}, {}, 5).file, as_floats);
      EXPECT_EQ(decoded.header.format, image.format()) << codec->name;
      EXPECT_EQ(words_in(decoded.image), words_in(image)) << codec->name << ' ' << channels;
    }
  }
}

TEST(FloatFiles, GetTheNearestSamplesWhereTheyHoldNone) {
  Image image({4, 1}, {1, float_depth});
  const std::array values{-1.0F, 0.5F, 1.0F, std::nanf("")};
  std::memcpy(image.rows().row(0), values.data(), sizeof values);
  const Image png = decode(encode(png_codec(), image).file).image;
  ASSERT_EQ(png.format(), (PixelFormat{1, 16}));
  for (int x = 0; x < 4; ++x)
    EXPECT_EQ(sample_at(png, x, 0, 0), (std::array{0U, 32768U, 65535U, 0U}.at(x)));
  const Image bytes = random_image({5, 3}, {4, 8}, 1);
  const Image pfm = decode(encode(pfm_codec(), bytes).file, as_floats).image;
  EXPECT_EQ(pfm.format(), (PixelFormat{3, float_depth}));
}

}  // namespace
}  // namespace gpufilter::test
