// The table of formats: the format of a file, and the format that a name requests.
#include "codec/codec.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "support/objection.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

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

TEST(Codec, SaysHowLongAByteTakes) {
  std::set<std::string> kinds;
  for (const Codec* codec : codecs()) {
    for (const Rate& rate : {codec->decoding, codec->encoding}) {
      EXPECT_TRUE(kinds.insert(rate.kind).second) << rate.kind;
      EXPECT_GT(rate.host, 1e-10) << rate.kind;
      EXPECT_LT(rate.host, 1e-6) << rate.kind;
    }
  }
  EXPECT_TRUE(kinds.contains("decode JPEG") && kinds.contains("encode PNG"));
}

TEST(Codec, TakesTheOutputsFormatFromItsName) {
  for (const char* name : {"a.png", "A.PNG", "dir.jpg/b.Png", ".png", "a.jpg.png"}) {
    EXPECT_EQ(&codec_for_output(name), &png_codec()) << name;
  }
  for (const char* name : {"a.jpg", "a.JPEG", "/x/y.Jpg", "a.jpe", "a.JFIF"}) {
    EXPECT_EQ(&codec_for_output(name), &jpeg_codec()) << name;
  }
}

TEST(Codec, RefusesNamesOfOtherFormatsNamingThePossibleOnes) {
  EXPECT_EQ(extensions_of({&png_codec(), &jpeg_codec()}), ".png, .jpg, .jpeg, .jpe or .jfif");
  for (const std::string name : {"a", "png", "a.png.bak", "dir.png/a", "-", "", "a.png/"}) {
    EXPECT_EQ(codec_of_name(name), nullptr) << name;
    try {
      (void)codec_for_output(name);
      FAIL() << "no exception for " << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                name + ": the name of an output must end in " + extensions_of(codecs()));
    }
  }
}

TEST(Codec, RefusesWhatIsNoPicture) {
  const auto refusal = [](const std::string& content) -> std::string {
    return test::objection_to<PictureError>(
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
      EXPECT_TRUE(test::contains(codec_versions(), codec->libraries()));
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
  EXPECT_EQ(names, (std::set<std::string>{"png-level", "quality", "subsampling", "restart",
                                          "progressive", "background", "strip", "keep"}));
}

}  // namespace
}  // namespace gpufilter
