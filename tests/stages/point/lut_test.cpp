#include "stages/point/lut.hpp"

#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

Cube random_cube(int size, unsigned seed, bool curves = false) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> number(-0.1F, 1.1F);
  Cube cube{.curves = curves, .size = size};
  const int count = curves ? size : size * size * size;
  for (int i = 0; i < count; ++i)
    cube.colors.push_back({number(generator), number(generator), number(generator)});
  return cube;
}

Cube shaped_cube(int size, unsigned seed) {
  Cube cube = random_cube(size, seed);
  cube.low = {-0.1, 0.2, 0};
  cube.high = {1.5, 0.7, 1};
  Cube shaper = random_cube(6, seed + 1, true);
  shaper.low = {0, -1, 0.25};
  cube.shaper = std::make_shared<const Cube>(std::move(shaper));
  return cube;
}

// The oracle, in double precision: walks from the cell's first corner along the axis with the
// largest fraction, then the next, then the last.
std::array<double, 3> looked_up(const Cube& cube, std::array<double, 3> color) {
  if (cube.shaper) color = looked_up(*cube.shaper, color);
  std::array<int, 3> cell{};
  std::array<double, 3> fraction{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double share = (color.at(c) - cube.low.at(c)) / (cube.high.at(c) - cube.low.at(c));
    const double place = std::clamp(share, 0.0, 1.0) * (cube.size - 1);
    cell.at(c) = std::min(static_cast<int>(place), cube.size - 2);
    fraction.at(c) = place - cell.at(c);
  }
  const auto at = [&](const std::array<int, 3>& node, std::size_t c) {
    const int index =
        cube.curves ? node.at(c) : node[0] + cube.size * (node[1] + cube.size * node[2]);
    return static_cast<double>(cube.colors.at(static_cast<std::size_t>(index)).at(c));
  };
  std::array<double, 3> result{};
  if (cube.curves) {
    for (std::size_t c = 0; c < 3; ++c) {
      auto next = cell;
      ++next.at(c);
      result.at(c) = at(cell, c) * (1 - fraction.at(c)) + at(next, c) * fraction.at(c);
    }
    return result;
  }
  std::array<std::size_t, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return fraction.at(a) > fraction.at(b); });
  for (std::size_t c = 0; c < 3; ++c)
    result.at(c) = at(cell, c);
  auto node = cell;
  for (const std::size_t axis : order) {
    auto next = node;
    ++next.at(axis);
    for (std::size_t c = 0; c < 3; ++c)
      result.at(c) += fraction.at(axis) * (at(next, c) - at(node, c));
    node = next;
  }
  return result;
}

// The largest difference from the oracle.
int distance(const Cube& cube, double strength, const Image& image) {
  const auto stage = make_lut(cube, strength, "test");
  const Image result = filter_on_host(image, {stage}, {});
  const double max = image.format().max_sample();
  const bool grey = image.format().color_channels() == 1;
  int largest = 0;
  for (const auto [x, y] : each_pixel(image)) {
    std::array<double, 3> color{};
    for (int c = 0; c < 3; ++c)
      color.at(static_cast<std::size_t>(c)) = sample_at(image, x, y, grey ? 0 : c) / max;
    const auto found = looked_up(cube, color);
    for (std::size_t c = 0; c < 3; ++c) {
      const double mixed = color.at(c) + strength * (found.at(c) - color.at(c));
      const int expected = static_cast<int>(std::nearbyint(std::clamp(mixed, 0.0, 1.0) * max));
      const int got = static_cast<int>(sample_at(result, x, y, static_cast<int>(c)));
      largest = std::max(largest, std::abs(got - expected));
    }
    if (image.format().has_alpha()) {
      const int alpha = image.format().channels - 1;
      EXPECT_EQ(sample_at(result, x, y, 3), sample_at(image, x, y, alpha));
    }
  }
  return largest;
}

TEST(Lut, IsWithinOneOfDoublePrecision) {
  for (const PixelFormat& format : all_formats()) {
    for (const Image& image :
         {random_image({517, 19}, format, 1), extreme_image({33, 5}, format, 2)}) {
      for (const int size : {2, 3, 17, 33, 64}) {
        Cube cube = random_cube(size, static_cast<unsigned>(size));
        EXPECT_LE(distance(cube, 1, image), 1) << size << " " << to_string(format);
        EXPECT_LE(distance(cube, 0.3, image), 1) << size << " " << to_string(format);
        cube.low = {-0.5, 0.2, 0};
        cube.high = {1.5, 0.7, 0.001};
        EXPECT_LE(distance(cube, 1, image), 1) << size << " " << to_string(format);
      }
    }
  }
}

TEST(Lut, OfTheLargestSizeIsWithinOneTooAndAfterCurvesIsWithinOneTooAndOfCurvesIsTheNearestSample) {
  const Cube cube = random_cube(Cube::largest, 5);
  EXPECT_LE(distance(cube, 1, random_image({301, 33}, {3, 16}, 3)), 1);
  EXPECT_LE(distance(cube, 1, random_image({301, 33}, {3, 8}, 4)), 1);
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({517, 19}, format, 1);
    EXPECT_LE(distance(shaped_cube(2, 3), 1, image), 1) << to_string(format);
    EXPECT_LE(distance(shaped_cube(17, 4), 0.3, image), 1) << to_string(format);
  }
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({517, 19}, format, 1);
    for (const int size : {2, 5, 1024}) {
      Cube cube = random_cube(size, 7, true);
      cube.low = {0, -1, 0.25};
      cube.high = {1, 2, 0.75};
      EXPECT_EQ(distance(cube, 1, image), 0) << size << " " << to_string(format);
    }
  }
}

TEST(Lut, GivesTheSameBitsEverywhereAndAfterCurvesGivesTheSameBitsEverywhere) {
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({517, 19}, format, 1);
    for (const auto& [curves, strength] :
         each_of(std::array{false, true}, std::vector<double>{1.0, 0.3})) {
      Cube cube = random_cube(9, 8, curves);
      cube.low = {-0.5, 0.2, 0};
      cube.high = {1.5, 0.7, 1};
      const StageChain chain{make_lut(std::move(cube), strength, "test")};
      expect_everywhere(chain, image, filter_on_host(image, chain, {}));
    }
  }
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({517, 19}, format, 1);
    const StageChain chain{make_lut(shaped_cube(9, 8), 0.7, "test")};
    expect_everywhere(chain, image, filter_on_host(image, chain, {}));
  }
}

TEST(Lut, OfTheColoursThemselvesChangesNothing) {
  for (const int size : {2, 16, 33}) {
    Cube cube{.size = size};
    for (int i = 0; i < size * size * size; ++i) {
      const auto share = [&](int index) {
        return static_cast<float>(index) / static_cast<float>(size - 1);
      };
      cube.colors.push_back({share(i % size), share(i / size % size), share(i / size / size)});
    }
    const Image image = random_image({517, 19}, {4, 8}, 9);
    const StageChain chain{make_lut(cube, 1, "identity")};
    EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), image)) << size;
  }
}

std::string cube_objection(const std::string& text) {
  return objection_to([&] { return parse_cube(text, "a.cube"); });
}

const std::string eight = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n";

TEST(CubeText, HasKeywordsCommentsAndNumbers) {
  const Cube cube = parse_cube(
      "\xEF\xBB\xBFTITLE \"Film 3\"\r\n# made by hand\r\n\r\nDOMAIN_MIN -1 0 .5\r\n"
      "DOMAIN_MAX 1 2e0 1\r\nLUT_3D_SIZE 2\r\n" +
          eight + "# the end",
      "a.cube");
  EXPECT_FALSE(cube.curves);
  EXPECT_EQ(cube.size, 2);
  EXPECT_EQ(cube.low, (std::array<double, 3>{-1, 0, 0.5}));
  EXPECT_EQ(cube.high, (std::array<double, 3>{1, 2, 1}));
  ASSERT_EQ(cube.colors.size(), 8U);
  EXPECT_EQ(cube.colors[1], (CubeColor{1, 0, 0}));
  const Cube curves = parse_cube("LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0 2\n0 0 0\n1 .5 -.25", "b");
  EXPECT_TRUE(curves.curves);
  EXPECT_EQ(curves.high, (std::array<double, 3>{2, 2, 2}));
  EXPECT_EQ(curves.colors[1], (CubeColor{1, 0.5, -0.25}));
}

TEST(CubeText, HasKeywordsInAnyCase) {
  const Cube cube = parse_cube(
      "title \"x\"\ndomain_min -1 0 0\nDomain_Max 2 2 2\nlut_3d_size 2\n" + eight, "a.cube");
  EXPECT_EQ(cube.size, 2);
  EXPECT_EQ(cube.low, (std::array<double, 3>{-1, 0, 0}));
  EXPECT_EQ(cube.high, (std::array<double, 3>{2, 2, 2}));
}

// As DaVinci Resolve writes them: the curves' lines come first.
TEST(CubeText, MayHaveCurvesBeforeATable) {
  const std::string header =
      "LUT_1D_SIZE 3\nLUT_1D_INPUT_RANGE -1 3\nLUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0 4\n";
  const std::string curves = "4 4 4\n2 2 1\n0 0 0\n";
  const Cube cube = parse_cube(header + curves + eight, "a.cube");
  EXPECT_FALSE(cube.curves);
  EXPECT_EQ(cube.size, 2);
  EXPECT_EQ(cube.low, (std::array<double, 3>{0, 0, 0}));
  EXPECT_EQ(cube.high, (std::array<double, 3>{4, 4, 4}));
  EXPECT_EQ(cube.colors.at(1), (CubeColor{1, 0, 0}));
  ASSERT_TRUE(cube.shaper);
  EXPECT_TRUE(cube.shaper->curves);
  EXPECT_EQ(cube.shaper->low, (std::array<double, 3>{-1, -1, -1}));
  EXPECT_EQ(cube.shaper->high, (std::array<double, 3>{3, 3, 3}));
  EXPECT_EQ(cube.shaper->colors, (std::vector<CubeColor>{{4, 4, 4}, {2, 2, 1}, {0, 0, 0}}));
  EXPECT_EQ(
      cube_objection(header + curves + "0 0 0\n"),
      "a.cube:8: the file ends after 4 of 11 lines of numbers (LUT_1D_SIZE 3, LUT_3D_SIZE 2)");
}

// The range of a table that the file has not got says nothing, and the domain is the whole's.
TEST(CubeText, HasARangeForEachTable) {
  const Cube table = parse_cube("LUT_3D_SIZE 2\nLUT_1D_INPUT_RANGE 0 2\n" + eight, "a.cube");
  EXPECT_EQ(table.high, (std::array<double, 3>{1, 1, 1}));
  const Cube both = parse_cube(
      "LUT_1D_SIZE 2\nLUT_3D_SIZE 2\nDOMAIN_MAX 2 3 4\n0 0 0\n1 1 1\n" + eight, "a.cube");
  EXPECT_EQ(both.high, (std::array<double, 3>{1, 1, 1}));
  EXPECT_EQ(both.shaper->high, (std::array<double, 3>{2, 3, 4}));
  EXPECT_EQ(cube_objection("LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 1 1\n" + eight),
            "a.cube:2: the domain from 1 to 1 is empty");
}

TEST(CubeText, IsRefusedByNameAndLine) {
  const std::string size = "LUT_3D_SIZE 2\n";
  EXPECT_EQ(cube_objection(""), "a.cube: no LUT_1D_SIZE or LUT_3D_SIZE; is this a .cube file?");
  EXPECT_EQ(cube_objection(size + "0 0 0\n"),
            "a.cube:2: the file ends after 1 of 8 lines of numbers (LUT_3D_SIZE 2)");
  EXPECT_EQ(cube_objection(size + eight + "\n0 0 0\n"),
            "a.cube:11: more than 8 lines of numbers (LUT_3D_SIZE 2)");
  EXPECT_EQ(cube_objection(size + "0 nan 0\n"), "a.cube:2: 'nan' is not a number");
  EXPECT_EQ(cube_objection(size + "0 1e39 0\n"),
            "a.cube:2: '1e39' is too large: single precision ends at 3.4e38");
  EXPECT_EQ(cube_objection(size + "0 0\n"), "a.cube:2: 2 numbers instead of 3");
  EXPECT_EQ(cube_objection("0 0 0\n"), "a.cube:1: numbers before LUT_1D_SIZE or LUT_3D_SIZE");
  for (const std::string bad : {"257", "1", "0", "-3", "2.5", "x", "", "2 2"}) {
    EXPECT_EQ(cube_objection("\nLUT_3D_SIZE " + bad + "\n"),
              "a.cube:2: LUT_3D_SIZE must be a whole number from 2 to 256")
        << bad;
  }
  EXPECT_EQ(cube_objection("LUT_1D_SIZE 65537"),
            "a.cube:1: LUT_1D_SIZE must be a whole number from 2 to 65536");
  EXPECT_EQ(cube_objection(size + size), "a.cube:2: LUT_3D_SIZE a second time");
  EXPECT_EQ(cube_objection("DOMAIN_MAX 1 0 1\n" + size + eight),
            "a.cube:1: the domain from 0 to 0 is empty");
  EXPECT_EQ(cube_objection("DOMAIN_MIN 2 2 2\nDOMAIN_MAX 3 3 3\n" + size + eight), "none");
  EXPECT_EQ(cube_objection("DOMAIN_MIN 0 0\n"), "a.cube:1: DOMAIN_MIN needs 3 numbers");
  EXPECT_EQ(cube_objection("LUT_3D_SIZES 2\n"), "a.cube:1: unknown keyword 'LUT_3D_SIZES'");
  EXPECT_EQ(cube_objection(size + "0 0 0\nDOMAIN_MIN 0 0 0\n"),
            "a.cube:3: 'DOMAIN_MIN' after the numbers");
}

// Level 2: 4 entries along each axis, red fastest.
Image hald_image(PixelFormat format) {
  Image image(ImageSize{8, 8}, format);
  for (int i = 0; i < 64; ++i) {
    const std::array steps{i % 4, i / 4 % 4, i / 16};
    for (int c = 0; c < 3; ++c) {
      set_sample(image, i % 8, i / 8, c,
                 static_cast<std::uint32_t>(steps.at(static_cast<std::size_t>(c))) *
                     format.max_sample() / 3);
    }
  }
  return image;
}

TEST(HaldClut, IsATableOfItsPixels) {
  const TemporaryFolder folder;
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{3, 16}}) {
    write_png(hald_image(format), folder / "hald.png");
    const Cube cube = read_cube(folder / "hald.png");
    EXPECT_EQ(cube.size, 4);
    ASSERT_EQ(cube.colors.size(), 64U);
    EXPECT_EQ(cube.colors[1 + 4 * 2 + 16 * 3], (CubeColor{1.0F / 3, 2.0F / 3, 1}));
    const Image image = random_image({129, 9}, {3, 8}, 3);
    EXPECT_TRUE(same_pixels(filter_on_host(image, {make_lut(cube, 1, "identity")}, {}), image));
  }
}

TEST(HaldClut, MayHaveAnyFormat) {
  const TemporaryFolder folder;
  const Image image = hald_image({3, 8});
  std::string ppm = "P6\n8 8\n255\n";
  for (int y = 0; y < 8; ++y)
    ppm.append(reinterpret_cast<const char*>(image.rows().row(y)), std::size_t{8} * 3);
  write_file(folder / "hald.ppm", ppm);
  write_png(image, folder / "hald.png");
  EXPECT_EQ(read_cube(folder / "hald.ppm").colors, read_cube(folder / "hald.png").colors);
}

// As shells make them of "<(zcat film.cube.gz)": nothing can be read twice.
TEST(CubeFile, MayBeAPipe) {
  const TemporaryFolder folder;
  write_png(hald_image({3, 8}), folder / "hald.png");
  write_file(folder / "curve.cube", "LUT_1D_SIZE 2\n0 0 0\n1 1 0.5\n");
  for (const char* name : {"hald.png", "curve.cube"}) {
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { write_file(pipe, read_file(folder / name)); });
    const Cube cube = read_cube(pipe);
    writer.join();
    EXPECT_EQ(cube.colors, read_cube(folder / name).colors) << name;
    std::filesystem::remove(pipe);
  }
}

TEST(HaldClut, OfAWrongSizeIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = folder / "hald.png";
  write_png(random_image({8, 9}, {3, 8}, 1), path);
  EXPECT_EQ(objection_to([&] { return read_cube(path); }),
            path +
                ": a HaldCLUT is a square of 8, 27, 64, 125, ... or 4096 pixels, "
                "but this picture has 8x9");
  write_file(path, "\x89PNG and no more");
  EXPECT_THROW(static_cast<void>(read_cube(path)), UsageError);
  EXPECT_THROW(static_cast<void>(read_cube(folder / "missing.cube")), UsageError);
}

}  // namespace
}  // namespace gpufilter::test
