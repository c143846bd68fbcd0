// PPM, PGM, PBM and PAM, byte by byte as Netpbm's manual describes them.

#include "codec/formats.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_literals;
using Samples = std::vector<std::uint32_t>;

std::vector<std::uint32_t> samples_in(const std::string& file) {
  const Decoded decoded = decode(bytes_of(file));
  std::vector<std::uint32_t> samples;
  for (const auto [x, y, c] : each_sample(decoded.image))
    samples.push_back(sample_at(decoded.image, x, y, c));
  return samples;
}

TEST(NetpbmReader, ReadsPlainFilesWithCommentsAndReadsBinaryFilesAndScalesSamplesOfOtherMaxima) {
  EXPECT_EQ(samples_in("P3\n# made by hand\n2 1 # size\n255\n1 2 3\n254 255 0"),
            (Samples{1, 2, 3, 254, 255, 0}));
  EXPECT_EQ(samples_in("P2\t1\r\n2 65535 1\n65535\n"), (Samples{1, 65535}));
  EXPECT_EQ(samples_in("P1 3 2 1 0 1\n011 "), (Samples{0, 255, 0, 255, 0, 0}));
  EXPECT_EQ(samples_in("P1#x\n2 1#y\n10"), (Samples{0, 255}));
  EXPECT_EQ(samples_in("P6 1 2 255\n\x01\x02\x03\xfd\xfe\xff"s), (Samples{1, 2, 3, 253, 254, 255}));
  EXPECT_EQ(samples_in("P5 2 1 65535\n\x01\x02\xff\xfe"s), (Samples{0x0102, 0xfffe}));
  // Rows of bits begin with a new byte; the bits behind them mean nothing.
  EXPECT_EQ(samples_in("P4 9 2\n\xaa\xff\x55\x00"s),
            (Samples{0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255}));
  // One byte of white space follows the maximum, even if the samples look like white space.
  EXPECT_EQ(samples_in("P5 2 1 255 \n\n"), (Samples{10, 10}));
  EXPECT_EQ(samples_in("P5 1 1 255# with a comment\n\x20"), Samples{32});
  // (v * max + maxval / 2) / maxval, by hand.
  EXPECT_EQ(samples_in("P2 3 1 2 0 1 2"), (Samples{0, 128, 255}));
  EXPECT_EQ(samples_in("P5 4 1 3\n"s + "\x00\x01\x02\x03"s), (Samples{0, 85, 170, 255}));
  EXPECT_EQ(samples_in("P2 3 1 1023 0 512 1023"), (Samples{0, 32800, 65535}));
  EXPECT_EQ(samples_in("P5 1 1 256\n\x00\x01"s), Samples{256});
  const PictureHeader header = decode(bytes_of("P2 1 1 1023 5")).header;
  EXPECT_EQ(header.file_pixels, (FilePixels{"grey", 1, 10}));
  EXPECT_EQ(header.file_format, &pgm_codec());
  EXPECT_EQ(decode(bytes_of("P1 1 1 1")).header.file_pixels, (FilePixels{"grey", 1, 1}));
}

TEST(NetpbmReader, ReadsEveryKindOfPam) {
  const auto pam = [](int depth, int maxval, const std::string& type, const std::string& data) {
    return "P7\n# c\nTUPLTYPE " + type + "\nDEPTH " + std::to_string(depth) + "\nMAXVAL " +
           std::to_string(maxval) + "\nHEIGHT 1\n\nWIDTH 1\nENDHDR\n" + data;
  };
  EXPECT_EQ(samples_in(pam(1, 1, "BLACKANDWHITE", "\x01")), Samples{255});
  EXPECT_EQ(samples_in(pam(2, 1, "BLACKANDWHITE_ALPHA", "\0\1"s)), (Samples{0, 255}));
  EXPECT_EQ(samples_in(pam(2, 255, "GRAYSCALE_ALPHA", "ab")), (Samples{'a', 'b'}));
  EXPECT_EQ(samples_in(pam(3, 255, "RGB", "abc")), (Samples{'a', 'b', 'c'}));
  EXPECT_EQ(samples_in(pam(4, 65535, "RGB_ALPHA", "aabbccdd")),
            (Samples{0x6161, 0x6262, 0x6363, 0x6464}));
  EXPECT_EQ(samples_in("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nENDHDR\nxy"),
            (Samples{'x', 'y'}));
  const std::string only = ": only grey, grey with alpha, RGB and RGB with alpha are";
  EXPECT_EQ(why_refused(bytes_of(pam(4, 255, "CMYK", "abcd"))),
            "in: a PAM of 4 channels and type 'CMYK' is not supported" + only);
  EXPECT_EQ(why_refused(bytes_of(pam(3, 255, "GRAYSCALE", "abc"))),
            "in: a PAM of 3 channels and type 'GRAYSCALE' is not supported" + only);
}

TEST(NetpbmReader, RefusesDamage) {
  const std::string damaged = "in: damaged Netpbm file: ";
  for (const auto& [file, why] : std::vector<std::pair<std::string, std::string>>{
           {"P6\n0 1\n255\n", "its width or height is 0"},
           {"P6\n1 99999999999\n255\n", "a number is too large"},
           {"P5 1 1 0\nx", "its largest sample is 0, not 1 to 65535"},
           {"P5 1 1 65536\nxx", "its largest sample is 65536, not 1 to 65535"},
           {"P5 1 1 100\ne", "a sample of 101, its largest is said to be 100"},
           {"P2 1 1 255 256", "a sample of 256, its largest is said to be 255"},
           {"P3 1 1 255 1 -2 3", "'-' where a number should be"},
           {"P2 2 1 255 1x2", "'x' after a number"},
           {"P1 2 1 1 2", "a sample is neither 0 nor 1"},
           {"P1 2 1 1 \x80\x30", "a sample is neither 0 nor 1"},
           {"P1 2 1 1 \x01\x30", "a sample is neither 0 nor 1"},
           {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL x\nENDHDR\n1", "MAXVAL is 'x'"},
           {"P7\nWIDTH 1 2\n", "WIDTH is '1 2'"},
           {"P7\nCOLORS 3\n", "'COLORS' is not a keyword of its header"},
           {"P7\nDEPTH 1\nENDHDR\n", "its width or height is 0"},
           {"P7\n#" + std::string(5000, 'x') + "\n", "a line of its header is too long"}}) {
    EXPECT_EQ(why_refused(bytes_of(file)), damaged + why) << file;
  }
  EXPECT_EQ(why_refused(bytes_of("P6 2 1 255\nabcde")), "in: the file ends too early");
  EXPECT_EQ(why_refused(bytes_of("P2 2 1 255\n1 ")), "in: the file ends too early");
  EXPECT_EQ(why_refused(bytes_of("P6 3000000 1 255\n")),
            "in: 3000000 x 1 pixels: a row takes 9000000 bytes, the limit is 8388608: cut it into "
            "narrower pictures");
}

std::string netpbm_text(const Codec& codec, const Image& image) {
  const Bytes file = encode(codec, image).file;
  return {file.begin(), file.end()};
}

Image with_samples(const PixelFormat& format, const std::vector<std::uint32_t>& samples) {
  Image image({1, 1}, format);
  for (int c = 0; c < format.channels; ++c)
    set_sample(image, 0, 0, c, samples.at(static_cast<std::size_t>(c)));
  return image;
}

TEST(NetpbmWriter, WritesTheseBytes) {
  EXPECT_EQ(netpbm_text(ppm_codec(), with_samples({3, 8}, {65, 66, 67})), "P6\n1 1\n255\nABC");
  EXPECT_EQ(netpbm_text(ppm_codec(), with_samples({1, 8}, {65})), "P6\n1 1\n255\nAAA");
  EXPECT_EQ(netpbm_text(pgm_codec(), with_samples({1, 16}, {0x4142})), "P5\n1 1\n65535\nAB");
  EXPECT_EQ(netpbm_text(pnm_codec(), with_samples({1, 8}, {65})), "P5\n1 1\n255\nA");
  EXPECT_EQ(netpbm_text(pnm_codec(), with_samples({3, 8}, {65, 66, 67})), "P6\n1 1\n255\nABC");
  EXPECT_EQ(netpbm_text(pam_codec(), with_samples({2, 8}, {65, 66})),
            "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nAB");
  EXPECT_EQ(netpbm_text(pam_codec(), with_samples({4, 16}, {0x4142, 0x4344, 0x4546, 0x4748})),
            "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\nABCDEFGH");
}

// White behind transparent pixels; (299 r + 587 g + 114 b + 500) / 1000 for a PGM.
TEST(NetpbmWriter, ConvertsWhatTheFormatCannotHold) {
  EXPECT_EQ(netpbm_text(ppm_codec(), with_samples({4, 8}, {1, 2, 3, 0})),
            "P6\n1 1\n255\n\xff\xff\xff");
  EXPECT_EQ(netpbm_text(pgm_codec(), with_samples({3, 8}, {10, 100, 200})),
            "P5\n1 1\n255\nT");  // 84.49
  EXPECT_EQ(netpbm_text(pgm_codec(), with_samples({3, 16}, {0, 65535, 0})),
            "P5\n1 1\n65535\n\x96\x45");  // 38469.0
  Metadata metadata;
  metadata.gamma = 100'000;
  metadata.xmp = {'x'};
  metadata.density = Density{Density::Unit::per_metre, 1, 1};
  const Encoded grey = encode(pgm_codec(), with_samples({3, 8}, {1, 2, 3}), {}, metadata);
  EXPECT_EQ(grey.left_out,
            (std::vector<std::string>{"colours (a PGM is grey)", "gamma", "density", "XMP"}));
}

}  // namespace
}  // namespace gpufilter::test
