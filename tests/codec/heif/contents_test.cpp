// What HEIC and AVIF files hold besides the picture that is read.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/heif/items.hpp"
#include "support/heif_sketch.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

Property auxiliary(const std::string& type) {
  Bytes content(4, 0);
  content.insert(content.end(), type.begin(), type.end());
  content.push_back(0);
  return {"auxC", content};
}

Names names(const Bytes& file) {
  return heif_contents(heif_items(file));
}

TEST(HeifContents, NamesPicturesAndMapsButNoPartsNorThumbnails) {
  EXPECT_EQ(names({}), Names{});
  EXPECT_EQ(names(heif_file("heic", 1, {{1, "hvc1"}})), Names{});
  const std::vector<SketchedItem> items{
      {1, "grid"},
      {2, "hvc1"},
      {3, "hvc1"},
      {4, "hvc1"},
      {5, "hvc1"},
      {6, "hvc1", {}, {is_alpha()}},
      {7, "hvc1", {}, {auxiliary("urn:mpeg:hevc:2015:auxid:2")}},
      {8, "hvc1", {}, {auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")}},
      {9, "hvc1", {}, {auxiliary("urn:com:apple:photo:2018:aux:portraiteffectsmatte")}},
      {10, "hvc1", {}, {}, true},
      {11, "Exif"},
      {12, "av01"},
      {13, "jpeg"}};
  EXPECT_EQ(names(heif_file("heic", 1, items,
                            {{"dimg", 1, {2, 3}},
                             {"thmb", 4, {1}},
                             {"auxl", 6, {1}},
                             {"auxl", 7, {1}},
                             {"auxl", 8, {1}},
                             {"auxl", 9, {1}}})),
            (Names{"3 more pictures", "a depth map", "a gain map", "an auxiliary picture"}));
  EXPECT_EQ(names(heif_file("avif", 1, {{1, "av01"}, {2, "av01", {}, {}, true}, {3, "tmap"}},
                            {{"dimg", 3, {1, 2}}})),
            Names{"a gain map"});
}

TEST(HeifContents, NamesSequencesAndFilms) {
  const auto track = [](const std::string& handler, std::uint8_t samples) {
    Bytes kind(8, 0);
    kind.insert(kind.end(), handler.begin(), handler.end());
    const Bytes sizes = box("stsz", {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, samples});
    Bytes media = box("hdlr", kind);
    const Bytes information = box("minf", box("stbl", sizes));
    media.insert(media.end(), information.begin(), information.end());
    return box("trak", box("mdia", media));
  };
  const auto with = [](const std::vector<Bytes>& boxes) {
    Bytes file = heif_file("avif", 1, {{1, "av01"}});
    for (const Bytes& one : boxes)
      file.insert(file.end(), one.begin(), one.end());
    return file;
  };
  EXPECT_EQ(names(with({box("moov", track("pict", 24))})), Names{"a sequence of 24 frames"});
  EXPECT_EQ(names(with({box("moov", track("auxv", 24))})), Names{});
  EXPECT_EQ(names(with({box("moov", track("vide", 9)), box("moov", track("soun", 9))})),
            (Names{"a film", "sound"}));
  EXPECT_EQ(names(with({box("mpvd", {0, 1, 2})})), Names{"a film"});
}

}  // namespace
}  // namespace gpufilter::test
