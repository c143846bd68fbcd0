// The table of formats: the format of a file, and the format that a name requests.
#include "codec/codec.hpp"

#include "codec/codec_table.hpp"
#include "codec/formats.hpp"
#include "codec/sample_conversion.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_literals;

const Codec* codec_beginning(const std::string& head) {
  return codec_of_content({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
}

TEST(Codec, KnowsFormatsByTheirContent) {
  EXPECT_EQ(codec_beginning("\x89PNG\r\n\x1a\n"), &png_codec());
  EXPECT_EQ(codec_beginning("\xff\xd8\xff\xe0"), &jpeg_codec());
  EXPECT_EQ(codec_beginning("\x89PNG\n\x1a\n-"), nullptr);  // line ends converted on the way
  EXPECT_EQ(codec_beginning("\x89PNG\r\n\x1a"), nullptr);
  EXPECT_EQ(codec_beginning("\xff\xd8"), nullptr);
  EXPECT_EQ(codec_beginning("GIF89a"), nullptr);
  EXPECT_EQ(codec_beginning(""), nullptr);
  EXPECT_GE(recognition_size(), 8U);
}

TEST(Codec, SaysHowLongAByteTakesAndTakesTheOutputsFormatFromItsName) {
  std::set<std::string> kinds;
  for (const Codec* codec : codecs()) {
    for (const Rate& rate : {codec->decoding, codec->encoding}) {
      EXPECT_TRUE(kinds.insert(rate.kind).second) << rate.kind;
      EXPECT_GT(rate.host, 1e-10) << rate.kind;
      EXPECT_LT(rate.host, 1e-6) << rate.kind;
    }
  }
  EXPECT_TRUE(kinds.contains("decode JPEG") && kinds.contains("encode PNG"));
  for (const char* name : {"a.png", "A.PNG", "dir.jpg/b.Png", ".png", "a.jpg.png"})
    EXPECT_EQ(&codec_for_output(name), &png_codec()) << name;
  for (const char* name : {"a.jpg", "a.JPEG", "/x/y.Jpg", "a.jpe", "a.JFIF"})
    EXPECT_EQ(&codec_for_output(name), &jpeg_codec()) << name;
}

TEST(Codec, RefusesNamesOfOtherFormatsNamingThePossibleOnesAndRefusesWhatIsNoPicture) {
  EXPECT_EQ(extensions_of({&png_codec(), &jpeg_codec()}), ".png, .jpg, .jpeg, .jpe or .jfif");
  for (const std::string name : {"a", "png", "a.png.bak", "dir.png/a", "-", "", "a.png/"}) {
    EXPECT_EQ(codec_of_name(name), nullptr) << name;
    EXPECT_EQ(objection_to([&] { return &codec_for_output(name); }),
              name + ": the name of an output must end in " + extensions_of(codecs()));
  }
  const auto refusal = [](const std::string& content) -> std::string {
    return objection_to<PictureError>(
        [&] {
          return open_picture(memory_source({content.begin(), content.end()}, "in.gif"));
        },
        "");
  };
  EXPECT_EQ(refusal(""), "in.gif: the file is empty");
  EXPECT_EQ(refusal("GIF89a..."), "in.gif: GIF is not supported");
  EXPECT_EQ(names_of({&png_codec(), &jpeg_codec()}), "PNG or JPEG");
}

TEST(Codec, RowsAreComplete) {
  std::set<std::string> names;
  std::set<std::string> extensions;
  for (const Codec* codec : codecs()) {
    SCOPED_TRACE(codec->name);
    EXPECT_TRUE(names.insert(codec->name).second);
    ASSERT_FALSE(codec->extensions.empty());
    for (const std::string& extension : codec->extensions) {
      EXPECT_EQ(extension.front(), '.');
      EXPECT_TRUE(extensions.insert(extension).second) << extension;
      EXPECT_EQ(codec_of_name("a" + extension), codec);
    }
    ASSERT_FALSE(codec->signatures.empty());
    for (const std::string& signature : codec->signatures)
      EXPECT_EQ(codec_beginning(signature + "and more"), codec);
    EXPECT_NE(codec->open, nullptr);
    EXPECT_NE(codec->create, nullptr);
    if (codec->libraries != nullptr) {
      EXPECT_TRUE(contains(codec_versions(), codec->libraries()));
    }
  }
}

TEST(Codec, DefaultsAreValuesOfTheirOptions) {
  std::set<std::string> names;
  for (const WriteOption* option : all_write_options()) {
    EXPECT_TRUE(names.insert(option->name).second) << option->name;
    if (option->default_value.empty()) {
      EXPECT_EQ(WriteOptions().value(*option), std::nullopt);
    } else {
      EXPECT_EQ(WriteOptions().value(*option), parse_value(*option, option->default_value));
    }
  }
  for (const char* name : {"tiff-compression", "lossless", "jxl-effort"})
    names.erase(name);  // of formats that the program may have been built without
  EXPECT_EQ(names,
            (std::set<std::string>{"png-level", "quality", "max-bytes", "subsampling", "restart",
                                   "progressive", "background", "strip", "keep"}));
}

const WriteOption effort{"effort", WriteOption::WholeNumber{-2, 9}, "4", ""};
const WriteOption method{"method", WriteOption::Choice{{"fast", "small"}}, "", ""};
const WriteOption paper{"paper", WriteOption::AnyColor{}, "black", ""};
const WriteOption careful{"careful", WriteOption::Flag{}, "off", ""};

std::string complaint(const WriteOption& option, const std::string& text) {
  return objection_to([&] { return parse_value(option, text); }, "");
}

TEST(WriteOptions, TakeTheValuesOfTheirKind) {
  EXPECT_EQ(parse_value(effort, "-2"), OptionValue(-2));
  EXPECT_EQ(parse_value(effort, "9"), OptionValue(9));
  EXPECT_EQ(parse_value(method, "small"), OptionValue("small"));
  EXPECT_EQ(parse_value(paper, "#010aff"), OptionValue(Color{1, 10, 255}));
  EXPECT_EQ(parse_value(careful, "on"), OptionValue(true));
  EXPECT_EQ(parse_value(careful, "off"), OptionValue(false));
}

TEST(WriteOptions, RefuseOthersSayingWhatTheyTake) {
  for (const std::string text : {"-3", "10", "", "x", "1.5", "1 ", " 1", "+1", "99999999999"})
    EXPECT_EQ(complaint(effort, text), "'" + text + "' is not a whole number from -2 to 9");
  for (const std::string text : {"", "slow", "none"})
    EXPECT_EQ(complaint(method, text), "'" + text + "' is not one of fast, small");
  for (const std::string text : {"Fast", "fast ", "fsat"}) {
    EXPECT_EQ(complaint(method, text),
              "'" + text + "' is not one of fast, small; did you mean fast?");
  }
  EXPECT_EQ(complaint(paper, "pink"),
            "'pink' is not a colour: write #rgb, #rrggbb or a name such as white");
  EXPECT_EQ(complaint(careful, "yes"), "'yes' is not one of on, off");
}

TEST(WriteOptions, HaveDefaultsUntilTheyAreSetAndValuesComeBackFromTheirText) {
  WriteOptions options;
  EXPECT_EQ(options.get<int>(effort), 4);
  EXPECT_EQ(options.get<std::string>(method), std::nullopt);
  EXPECT_EQ(options.get<Color>(paper), (Color{0, 0, 0}));
  options.set(effort, "7").set(method, "fast").set(effort, "8");
  EXPECT_EQ(options.get<int>(effort), 8);
  EXPECT_EQ(options.get<std::string>(method), "fast");
  EXPECT_THROW(options.set(effort, "10"), UsageError);
  EXPECT_EQ(options.get<int>(effort), 8) << "what is refused changes nothing";
  for (const OptionValue& value : {OptionValue(-2), OptionValue(9)})
    EXPECT_EQ(parse_value(effort, to_string(value)), value);
  EXPECT_EQ(to_string(OptionValue("small")), "small");
  const OptionValue color = Color{0, 10, 255};
  EXPECT_EQ(to_string(color), "#000aff");
  EXPECT_EQ(parse_value(paper, to_string(color)), color);
  for (const bool flag : {false, true})
    EXPECT_EQ(parse_value(careful, to_string(OptionValue(flag))), OptionValue(flag));
}

// Nearest level with exact halves up, in 64 bits and written differently from the code.
std::uint64_t rounded_quotient(std::uint64_t dividend, std::uint64_t divisor) {
  const std::uint64_t quotient = dividend / divisor;
  return dividend % divisor > divisor / 2 ? quotient + 1 : quotient;
}

std::vector<std::uint8_t> stored_bytes(const std::vector<std::uint16_t>& samples) {
  std::vector<std::uint8_t> bytes(samples.size() * 2);
  std::memcpy(bytes.data(), samples.data(), bytes.size());
  return bytes;
}

std::vector<std::uint16_t> stored_samples(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint16_t> samples(bytes.size() / 2);
  std::memcpy(samples.data(), bytes.data(), bytes.size());
  return samples;
}

TEST(NarrowSamples, IsTheNearestLevelForEverySample) {
  std::vector<std::uint16_t> wide(65536);
  for (std::size_t i = 0; i < wide.size(); ++i)
    wide[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint8_t> narrow(wide.size());
  narrow_samples(stored_bytes(wide).data(), narrow.data(), wide.size());
  for (std::uint64_t v = 0; v < 65536; ++v) {
    ASSERT_EQ(narrow[v], (v * 255 + 32767) / 65535) << v;
    ASSERT_EQ(narrow[v], rounded_quotient(v * 255, 65535)) << v;
  }
  EXPECT_EQ(narrow[65535], 255);
}

TEST(NarrowSamples, TakesUnalignedRows) {
  const auto bytes = stored_bytes({0x1234, 0xFFFF, 0x8000});
  std::vector<std::uint8_t> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  std::vector<std::uint8_t> narrow(3);
  narrow_samples(shifted.data() + 1, narrow.data(), 3);
  EXPECT_EQ(narrow, (std::vector<std::uint8_t>{18, 255, 128}));
}

TEST(FlattenPixels, IsExactForEveryGreyAndAlphaOf8Bits) {
  for (const int level : {0, 1, 127, 128, 254, 255}) {
    const auto byte = static_cast<std::uint8_t>(level);
    const Color background{byte, byte, byte};
    std::vector<std::uint8_t> pixels;
    for (int c = 0; c < 256; ++c) {
      for (int a = 0; a < 256; ++a) {
        pixels.push_back(static_cast<std::uint8_t>(c));
        pixels.push_back(static_cast<std::uint8_t>(a));
      }
    }
    std::vector<std::uint8_t> flat(65536);
    flatten_pixels(pixels.data(), flat.data(), 65536, {2, 8}, background);
    for (std::uint64_t c = 0; c < 256; ++c) {
      for (std::uint64_t a = 0; a < 256; ++a) {
        ASSERT_EQ(flat[c * 256 + a], rounded_quotient(c * a + level * (255 - a), 255))
            << c << " under alpha " << a << " over " << level;
      }
    }
  }
}

TEST(FlattenPixels, UsesTheBackgroundsOwnColorsAndDropsAlpha) {
  const std::vector<std::uint8_t> pixels{10, 20, 30, 0, 10, 20, 30, 255, 10, 20, 30, 51};
  std::vector<std::uint8_t> flat(9);
  flatten_pixels(pixels.data(), flat.data(), 3, {4, 8}, {200, 100, 50});
  // 51 is a fifth of 255.
  EXPECT_EQ(flat, (std::vector<std::uint8_t>{200, 100, 50, 10, 20, 30, 162, 84, 46}));
}

TEST(FlattenPixels, LaysGreyOverTheBackgroundsLuma) {
  const std::vector<std::uint8_t> pixels{10, 0, 10, 255};
  std::vector<std::uint8_t> flat(2);
  flatten_pixels(pixels.data(), flat.data(), 2, {2, 8}, {255, 0, 0});
  EXPECT_EQ(flat, (std::vector<std::uint8_t>{76, 10}));
}

TEST(FlattenPixels, IsExactIn16Bits) {
  const std::vector<std::uint16_t> values{0,     1,     2,     255,   256,   257,   32766,
                                          32767, 32768, 43690, 65280, 65533, 65534, 65535};
  std::vector<std::uint16_t> pixels;
  for (const auto& [c, a] : each_of(values, values))
    pixels.insert(pixels.end(), {c, static_cast<std::uint16_t>(65535 - c), c, a});
  const std::size_t count = values.size() * values.size();
  for (const int level : {0, 1, 128, 255}) {
    std::vector<std::uint8_t> bytes(count * 6);
    flatten_pixels(stored_bytes(pixels).data(), bytes.data(), static_cast<int>(count), {4, 16},
                   {static_cast<std::uint8_t>(level), 255, static_cast<std::uint8_t>(level)});
    const auto flat = stored_samples(bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t alpha = pixels[4 * i + 3];
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint64_t below = (c == 1 ? 255 : level) * std::uint64_t{257};
        ASSERT_EQ(flat[3 * i + c],
                  rounded_quotient(pixels[4 * i + c] * alpha + below * (65535 - alpha), 65535))
            << pixels[4 * i + c] << " under alpha " << alpha;
      }
    }
  }
}

TEST(CmykToRgb, IsExactForEveryInkAndKey) {
  std::vector<std::uint8_t> cmyk;
  for (int c = 0; c < 256; ++c) {
    for (int k = 0; k < 256; ++k) {
      for (const int sample : {c, 255 - c, 0, k})
        cmyk.push_back(static_cast<std::uint8_t>(sample));
    }
  }
  std::vector<std::uint8_t> inverted(cmyk.size() / 4 * 3);
  std::vector<std::uint8_t> ink(cmyk.size() / 4 * 3);
  cmyk_to_rgb(cmyk.data(), inverted.data(), 65536, CmykPolarity::inverted);
  cmyk_to_rgb(cmyk.data(), ink.data(), 65536, CmykPolarity::ink);
  for (std::uint64_t c = 0; c < 256; ++c) {
    for (std::uint64_t k = 0; k < 256; ++k) {
      const std::size_t at = (c * 256 + k) * 3;
      ASSERT_EQ(inverted[at], rounded_quotient(c * k, 255));
      ASSERT_EQ(inverted[at + 1], rounded_quotient((255 - c) * k, 255));
      ASSERT_EQ(inverted[at + 2], 0);
      ASSERT_EQ(ink[at], rounded_quotient((255 - c) * (255 - k), 255));
      ASSERT_EQ(ink[at + 1], rounded_quotient(c * (255 - k), 255));
      ASSERT_EQ(ink[at + 2], 255 - k);
    }
  }
}

std::string format_of(const std::string& head) {
  return other_format_of_content({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
}

TEST(OtherFormats, AreKnownByTheirEndings) {
  for (const auto& [name, format] :
       std::vector<std::pair<std::string, std::string>>{{"sub.png/a.GIF", "GIF"},
                                                        {"a.b.gif", "GIF"},
                                                        {"a.bmp", "BMP"},
                                                        {"a.jp2", "JPEG 2000"},
                                                        {"a.psd", "PSD"},
                                                        {"IMG_1.CR2", "camera RAW"},
                                                        {"a.NEF", "camera RAW"},
                                                        {"a.arw", "camera RAW"},
                                                        {"a.dng", "camera RAW"},
                                                        {"a.jif", "JPEG not named .jpg"},
                                                        {"a.svg", "SVG"},
                                                        {"a.png", ""},
                                                        {"a.JPG", ""},
                                                        {"gif", ""},
                                                        {"a.gif.xmp", ""},
                                                        {"a.gif/note.txt", ""},
                                                        {"", ""}}) {
    EXPECT_EQ(other_format_of_name(name), format) << name;
  }
}

// The first bytes of files that other programs wrote, and of the formats' specifications.
TEST(OtherFormats, AreKnownByTheirFirstBytes) {
  for (const auto& [head, format] : std::vector<std::pair<std::string, std::string>>{
           {"\x00\x00\x00\x18\x66\x74\x79\x70\x63\x72\x78\x20\x00\x00\x00\x01"s, "camera RAW"},
           {"FUJIFILMCCD-RAW "s, "camera RAW"},
           {"RIFF\x24\x10\x00\x00WAVEfmt "s, ""},
           {"GIF89a\x01\x00\x01\x00"s, "GIF"},
           {"BM\x36\x04\x01\x00\x00\x00\x00\x00\x36\x04\x00\x00\x28\x00"s, "BMP"},
           {"BMW of 1972, red"s, ""},
           {"\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a"s, "JPEG 2000"},
           {"8BPS\x00\x01"s, "PSD"},
           {"P6\n640 480\n255\n"s, "PPM not named .ppm"},
           {"P4 640 480\n"s, "PNM not named .pnm"},
           {"Pf\n640 480\n-1.0\n"s, "PFM not named .pfm"},
           {"\x89PNG\x0d\x0a\x1a\x0a"s, "PNG not named .png"},
           {"\xff\xd8\xff\xe1"s, "JPEG not named .jpg"},
           {"\x00\x00\x00\x20\x66\x74\x79\x70isom"s, ""},
           {"%PDF-1.7"s, ""},
           {"II*"s, ""},
           {""s, ""}}) {
    EXPECT_EQ(format_of(head), format) << head;
  }
}

// The names of formats that the program can be built without, of a file, of its first bytes, and of
// the package that is then missing.
TEST(OtherFormats, AreThoseThatTheProgramWasBuiltWithout) {
  for (const auto& [format, file, head, package] : std::vector<std::array<std::string, 4>>{
           {"TIFF", "a.TIF", "II*\0"s, "libtiff-dev"},
           {"TIFF", "a.tiff", "MM\0+"s, "libtiff-dev"},
           {"WebP", "a.webp", "RIFF1234WEBP", "libwebp-dev"},
           {"JPEG XL", "a.jxl", "\xff\x0a\xfa\x1f"s, "libjxl-dev"},
           {"HEIC", "a.HEIC",
            "\0\0\0\x18"
            "ftypheic\0\0\0\0"s,
            "libheif-dev"},
           {"HEIC", "a.heif",
            "\0\0\0\x24"
            "ftypmif1\0\0\0\0"s,
            "libheif-dev"},
           {"AVIF", "a.avif",
            "\0\0\0\x20"
            "ftypavif\0\0\0\0"s,
            "libheif-dev"}}) {
    const Codec* codec = codec_of_name(file);
    EXPECT_EQ(other_format_of_name(file), codec == nullptr ? format : "");
    const std::string missing = missing_format(format);
    if (codec != nullptr) {
      EXPECT_EQ(missing, "");
      EXPECT_EQ(codec->name, format);
      continue;
    }
    EXPECT_EQ(missing, "this gpufilter was built without " + format + ": install " + package +
                           " and build it again");
    EXPECT_EQ(no_picture({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()}),
              missing);
    EXPECT_EQ(objection_to([&] { return &codec_for_output(file); }), file + ": " + missing);
  }
}

TEST(OtherFormats, ExplainWhyAFileIsNotRead) {
  const auto why = [](const std::string& head) {
    return no_picture({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
  };
  EXPECT_EQ(why("GIF89a"), "GIF is not supported");
  EXPECT_EQ(why("text"), "not a " + names_of(codecs()) + " picture");
}

}  // namespace
}  // namespace gpufilter::test
