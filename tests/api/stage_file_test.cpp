// Stages with files in memory, words as enumerators, paths of every type, and parts of pictures.

#include <filesystem>
#include <string_view>

#include <gpufilter/gpufilter.hpp>

#include "support/testing.hpp"

namespace gpufilter {
namespace {

Picture picture_of(const Shape& shape, unsigned seed) {
  Picture picture(shape);
  auto* bytes = static_cast<std::uint8_t*>(picture.data());
  for (std::size_t i = 0; i < picture.pitch() * static_cast<std::size_t>(shape.height); ++i)
    bytes[i] = static_cast<std::uint8_t>((seed = seed * 1664525U + 1013904223U) >> 24U);
  return picture;
}

void expect_equal(const StageUse& a, const StageUse& b) {
  const Picture source = picture_of({61, 43, 3, 8}, 7);
  const Picture first = PictureFilter({a}, "cpu").run(source);
  const Picture second = PictureFilter({b}, "cpu").run(source);
  EXPECT_EQ(compare(first, second).verdict, Differences::Verdict::equal) << a.name;
  EXPECT_NE(compare(first, source).verdict, Differences::Verdict::equal) << a.name;
}

std::string objection(const StageUse& use) {
  return test::objection_to([&] { return PictureFilter({use}, "cpu"); }, "");
}

TEST(StageFile, HoldsAPicture) {
  const test::TemporaryFolder folder;
  for (const Shape& shape : {Shape{20, 30, 4, 8}, Shape{33, 9, 1, 16}, Shape{5, 6, 3, 8}}) {
    Picture above = picture_of(shape, 3);
    above.set_orientation(6);
    write(folder / "above.png", above);
    expect_equal(overlay{.value = above, .at = "center"},
                 overlay{.value = folder / "above.png", .at = "center"});
    const auto bytes = encode("png", above);
    expect_equal(overlay{above}, overlay{bytes});
    expect_equal(overlay{above}, {"overlay", "", {}, {{"overlay", above}}});
  }
  EXPECT_EQ(test::objection_to([&] { return StageFile(Picture()); }, ""),
            "a picture without pixels");
}

TEST(StageFile, HoldsTables) {
  // The colours of a table become those with red and blue exchanged.
  constexpr int size = 3;
  std::vector<float> colors;
  for (int b = 0; b < size; ++b)
    for (int g = 0; g < size; ++g)
      for (int r = 0; r < size; ++r)
        for (const int axis : {b, g, r})
          colors.push_back(static_cast<float>(axis) / (size - 1));
  expect_equal(lut{color_table(colors, size)}, stages::swap{choice::swap::bgr});
  expect_equal(lut{color_curves(std::vector<float>{1, 1, 1, 0, 0, 0})}, invert{});
  const auto complaint = [](const auto& make) { return test::objection_to(make, ""); };
  EXPECT_NE(complaint([&] { return color_table(colors, 4); }), "");
  EXPECT_NE(complaint([&] { return color_table({}, 0); }), "");
  EXPECT_NE(complaint([&] { return color_curves(std::vector<float>(4)); }), "");
  colors[5] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(complaint([&] { return color_table(colors, size); }), "a number is not finite");
}

TEST(StageFile, HoldsNetworks) {
  const std::vector<MlpLayer> layers{{{0, 0, 1, 0, 1, 0, 1, 0, 0}, {0, 0, 0}, "clamp"}};
  expect_equal(mlp{mlp_network(layers)}, {"swap", "bgr"});
  const std::vector<MlpLayer> wrong{{{0, 0, 1, 0}, {0, 0, 0}}};
  EXPECT_EQ(test::objection_to([&] { return mlp_network(wrong); }, ""),
            "layer 1 has 4 weights and 3 numbers of bias; there is a row of weights for each of "
            "them");
  EXPECT_EQ(objection(mlp{mlp_network({})}), "mlp in memory:1: there are no layers");
}

TEST(StageFile, IsNamedInMessages) {
  const std::vector<std::uint8_t> bytes{'x'};
  EXPECT_EQ(objection(net{bytes}), "net in memory: is not an ONNX network, or damaged");
  EXPECT_EQ(objection({"gaussian", "2", {}, {{"gaussian", bytes}}}),
            "gaussian: takes no file in memory");
  EXPECT_EQ(objection({"net", "n.onnx", {}, {{"border", bytes}}}),
            "border: only net itself can hold a file");
}

TEST(Matrix, IsText) {
  EXPECT_EQ(matrix_text(std::vector<double>{1, 2, 0.1, -4e-9}, 2), "1 2; 0.1 -4e-09");
  EXPECT_NE(test::objection_to(
                [] {
                  return matrix_text(std::vector<double>{1, 2, 3}, 2);
                },
                ""),
            "");
  expect_equal(convolve{matrix_text(std::vector<double>{0, 1, 2}, 1)}, {"convolve", "0; 1; 2"});
}

TEST(Words, AreTextOrEnumerators) {
  EXPECT_EQ(StageUse(blur{choice::blur::auto_}).value, "auto");
  EXPECT_EQ(StageUse(blur{.border = choice::border::wrap}).parameters.at("border"), "wrap");
  EXPECT_EQ(StageUse(blur{.border = std::string_view("mirror")}).parameters.at("border"), "mirror");
  EXPECT_EQ(
      StageUse(overlay{"a.png", "", {}, {}, {}, choice::blend::soft_light}).parameters.at("blend"),
      "soft-light");
  EXPECT_NE(objection(blur{.border = "mirrored"}), "");
}

TEST(Paths, HaveAnyType) {
  const test::TemporaryFolder folder;
  const std::string text = folder / "a.png";
  const std::filesystem::path path = text;
  const std::string_view view = text;
  const Picture picture = picture_of({20, 10, 3, 8}, 1);
  write(path, picture);
  EXPECT_EQ(read(view).shape(), picture.shape());
  EXPECT_EQ(open_header(text.c_str()).shape, picture.shape());
  EXPECT_EQ(compare(path, view).verdict, Differences::Verdict::equal);
  EXPECT_EQ(PictureFilter({}, "cpu").run(view, path.string() + ".jpg").width, 20);
}

TEST(ReadPart, IsARegionAsStored) {
  Picture picture = picture_of({60, 40, 4, 16}, 1);
  picture.set_orientation(8);
  const auto bytes = encode("tiff", picture);
  const Picture part = decode_part(bytes, {.region = "20x10+7+5"});
  EXPECT_EQ(part.shape(), (Shape{20, 10, 4, 16}));
  EXPECT_EQ(part.orientation(), 8);
  EXPECT_EQ(part.file_format(), "TIFF");
  for (int y = 0; y < 10; ++y)
    EXPECT_EQ(std::memcmp(part.row<std::uint16_t>(y), picture.row<std::uint16_t>(y + 5) + 7 * 4,
                          part.pitch()),
              0);
  EXPECT_EQ(decode_part(bytes, {.size = "30x"}).shape(), (Shape{30, 20, 4, 16}));
  EXPECT_EQ(compare(decode_part(bytes, {}), picture).verdict, Differences::Verdict::equal);
  EXPECT_THROW(static_cast<void>(decode_part(bytes, {.region = "61x10+0+0"})), PictureError);
  EXPECT_THROW(static_cast<void>(decode_part(bytes, {.size = "?"})), UsageError);
}

}  // namespace
}  // namespace gpufilter
