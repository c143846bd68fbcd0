#include <string>

#include <gtest/gtest.h>

#include "image/xmp.hpp"

namespace gpufilter {
namespace {

std::string cleaned(const std::string& xmp, XmpParts* parts = nullptr) {
  Bytes bytes(xmp.begin(), xmp.end());
  const XmpParts found = remove_announced_parts(bytes);
  if (parts != nullptr) *parts = found;
  return {bytes.begin(), bytes.end()};
}

TEST(XmpParts, GoWithTheirAttributesAndElements) {
  XmpParts parts;
  EXPECT_EQ(cleaned("<rdf:Description rdf:about=\"\"\n  GCamera:MotionPhoto=\"1\"\n"
                    "  GCamera:MotionPhotoVersion='1'\n  hdrgm:Version=\"1.0\" dc:format=\"a\">\n"
                    "<Container:Directory><rdf:Seq><rdf:li><Container:Item Item:Mime=\"a>b\"/>"
                    "</rdf:li></rdf:Seq></Container:Directory>\n"
                    "<GCamera:MicroVideo>1</GCamera:MicroVideo>"
                    "<hdrgm:GainMapMax/><dc:title>x</dc:title></rdf:Description>",
                    &parts),
            "<rdf:Description rdf:about=\"\" dc:format=\"a\">\n\n<dc:title>x</dc:title>"
            "</rdf:Description>");
  EXPECT_TRUE(parts.gain_map);
  EXPECT_FALSE(parts.depth_map);
}

TEST(XmpParts, AllElseStaysAsItIs) {
  for (const std::string xmp :
       {"", "<x/>", "hdrgm:", "<hdrgm:Open", "<hdrgm:Open>", " hdrgm:Version",
        " hdrgm:Version=", " hdrgm:Version=\"1", "<dc:title>no hdrgm: here</dc:title>",
        "<GCamera:BurstID>7</GCamera:BurstID>"}) {
    EXPECT_EQ(cleaned(xmp), xmp);
  }
}

TEST(XmpParts, NameDepth) {
  XmpParts parts;
  EXPECT_EQ(cleaned("<a><Container:Directory><Container:Item Item:Semantic=\"Depth\"/>"
                    "</Container:Directory></a>",
                    &parts),
            "<a></a>");
  EXPECT_TRUE(parts.depth_map);
}

}  // namespace
}  // namespace gpufilter
