// Which curve leads from samples to light: of profiles built here, number by number.
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "image/icc.hpp"

namespace gpufilter {
namespace {

void append_number(std::string& bytes, std::uint32_t number, int size) {
  for (int byte = size - 1; byte >= 0; --byte)
    bytes += static_cast<char>(number >> (8U * static_cast<unsigned>(byte)));
}

std::string gamma_tag(double gamma) {
  std::string tag("curv\0\0\0\0", 8);
  append_number(tag, 1, 4);
  append_number(tag, static_cast<std::uint32_t>(gamma * 256), 2);
  return tag;
}

std::string table_tag(const std::vector<std::uint32_t>& values) {
  std::string tag("curv\0\0\0\0", 8);
  append_number(tag, static_cast<std::uint32_t>(values.size()), 4);
  for (const std::uint32_t value : values)
    append_number(tag, value, 2);
  return tag;
}

std::string parametric_tag(int function, const std::vector<double>& numbers) {
  std::string tag("para\0\0\0\0", 8);
  append_number(tag, static_cast<std::uint32_t>(function), 2);
  append_number(tag, 0, 2);
  for (const double number : numbers)
    append_number(tag, static_cast<std::uint32_t>(std::lround(number * 65536)), 4);
  return tag;
}

using Tags = std::vector<std::pair<std::string, std::string>>;

Bytes profile_of(std::string_view color_space, const Tags& tags) {
  std::string bytes(128, '\0');
  bytes.replace(16, 4, color_space);
  bytes.replace(36, 4, "acsp");
  append_number(bytes, static_cast<std::uint32_t>(tags.size()), 4);
  std::size_t at = bytes.size() + 12 * tags.size();
  std::string values;
  for (const auto& [name, value] : tags) {
    bytes += name;
    append_number(bytes, static_cast<std::uint32_t>(at + values.size()), 4);
    append_number(bytes, static_cast<std::uint32_t>(value.size()), 4);
    values += value;
  }
  bytes += values;
  return {bytes.begin(), bytes.end()};
}

Bytes rgb_profile(const std::string& red, const std::string& green, const std::string& blue) {
  return profile_of("RGB ", {{"cprt", "text"}, {"rTRC", red}, {"gTRC", green}, {"bTRC", blue}});
}
Bytes rgb_profile(const std::string& curve) {
  return rgb_profile(curve, curve, curve);
}

std::string objection_to(const Bytes& profile) {
  try {
    static_cast<void>(icc_curves(profile));
  } catch (const NoIccCurves& error) {
    return error.what();
  }
  return "none";
}

template <typename Function>
void expect_curve(const TransferCurve& curve, const Function& light) {
  for (int i = 0; i <= 1000; ++i)
    EXPECT_NEAR(light_of(curve, i / 1000.0), light(i / 1000.0), 1e-12) << i;
}

TEST(TransferCurve, OfSrgb) {
  expect_curve(srgb_curve(), [](double x) {
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  });
}

TEST(IccCurves, OfEachFunction) {
  const auto curve = [](int function, const std::vector<double>& numbers) {
    return icc_curves(rgb_profile(parametric_tag(function, numbers)))[1];
  };
  // Numbers that 16 binary places hold.
  const double a = 0.9375;
  const double b = 0.0625;
  expect_curve(curve(0, {2.25}), [&](double x) { return std::pow(x, 2.25); });
  expect_curve(curve(1, {1.5, 1.25, -0.25}),
               [&](double x) { return x < 0.2 ? 0 : std::pow(1.25 * x - 0.25, 1.5); });
  expect_curve(curve(2, {1.5, 1, -0.25, 0.125}),
               [&](double x) { return 0.125 + (x < 0.25 ? 0 : std::pow(x - 0.25, 1.5)); });
  expect_curve(curve(3, {2.5, a, b, 0.0625, 0.125}),
               [&](double x) { return x < 0.125 ? x / 16 : std::pow(a * x + b, 2.5); });
  expect_curve(curve(4, {2.5, a, b, 0.0625, 0.125, 0.03125, 0.015625}), [&](double x) {
    return x < 0.125 ? x / 16 + 0.015625 : std::min(std::pow(a * x + b, 2.5) + 0.03125, 1.0);
  });
}

TEST(IccCurves, OfTablesAndPowers) {
  const auto curves =
      icc_curves(rgb_profile(gamma_tag(1.8), table_tag({}), table_tag({0, 10000, 10000, 65535})));
  expect_curve(curves[0], [](double x) { return std::pow(x, 460 / 256.0); });  // 1.8, rounded down
  expect_curve(curves[1], [](double x) { return x; });
  EXPECT_NEAR(light_of(curves[2], 1 / 6.0), 5000 / 65535.0, 1e-12);
  EXPECT_NEAR(light_of(curves[2], 0.5), 10000 / 65535.0, 1e-12);
  EXPECT_NEAR(light_of(curves[2], 5 / 6.0), (10000 + 55535 / 2.0) / 65535, 1e-12);
  EXPECT_EQ(light_of(curves[2], 1), 1);
}

TEST(IccCurves, OfGrey) {
  const auto curves = icc_curves(profile_of("GRAY", {{"kTRC", gamma_tag(2)}}));
  for (const TransferCurve& curve : curves)
    expect_curve(curve, [](double x) { return x * x; });
}

TEST(IccCurves, SayWhyThereAreNone) {
  const std::string gamma = gamma_tag(2.2);
  EXPECT_EQ(objection_to({}), "is truncated or damaged");
  EXPECT_EQ(objection_to(Bytes(200)), "is damaged");
  EXPECT_EQ(objection_to(profile_of("CMYK", {})), "is not for RGB or grey pictures");
  EXPECT_EQ(objection_to(profile_of("RGB ", {{"A2B0", "mft2"}})), "has tables instead of curves");
  EXPECT_EQ(objection_to(rgb_profile(gamma, "mft2abcdefgh", gamma)),
            "has a curve of an unknown kind");
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(5, {1, 1, 1, 1, 1, 1, 1}))),
            "has a curve of an unknown kind");
  constexpr const char* falling = "has a curve that is not increasing";
  EXPECT_EQ(objection_to(rgb_profile(gamma_tag(0))), falling);
  EXPECT_EQ(objection_to(rgb_profile(gamma_tag(11))), falling);
  EXPECT_EQ(objection_to(rgb_profile(table_tag({0, 10, 9, 11}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(table_tag({7, 7}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(1, {2, 0, 1}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(3, {2, -1, 1, 0, 0}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(3, {2, 1, 0, 1, 0.5}))), falling);
}

TEST(IccCurves, SurviveCutAndRandomBytes) {
  const Bytes whole =
      rgb_profile(table_tag({0, 5, 9}), parametric_tag(4, {2, 1, 0, 0, 0, 0, 0}), gamma_tag(2));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(objection_to({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
              "is truncated or damaged")
        << size;
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    Bytes changed = whole;
    for (int i = 0; i < 3; ++i)
      changed.at(128 + random() % (changed.size() - 128)) = static_cast<std::uint8_t>(random());
    static_cast<void>(objection_to(changed));
  }
}

TEST(LightCurves, AreWhatThePictureSays) {
  Metadata metadata;
  EXPECT_EQ(light_curves(metadata), LightCurves{});
  metadata.gamma = 50000;
  EXPECT_EQ(light_curves(metadata).name, "gamma 2");
  EXPECT_EQ(light_curves(metadata).colors[0], TransferCurve{.gamma = 2});
  metadata.srgb_intent = 0;
  EXPECT_EQ(light_curves(metadata), LightCurves{});
  metadata.icc_profile.emplace().data = rgb_profile(gamma_tag(1.8));
  EXPECT_EQ(light_curves(metadata).name, "curve of the ICC profile");
  EXPECT_EQ(light_curves(metadata).colors[2].gamma, 460 / 256.0);
  metadata.coding_points = {1, 8, 0, 1};
  EXPECT_EQ(light_curves(metadata).name, "gamma 1");
  metadata.coding_points = {1, 13, 0, 1};
  EXPECT_EQ(light_curves(metadata), LightCurves{});
}

TEST(LightCurves, SayWhyTheyAreNotThePictures) {
  Metadata metadata;
  metadata.gamma = 1;
  EXPECT_EQ(light_curves(metadata).warning,
            "--linear: the picture's gamma, 1e+05, is out of range; sRGB's curve is used instead");
  metadata.icc_profile.emplace().data = profile_of("RGB ", {{"A2B0", "mft2"}});
  EXPECT_EQ(light_curves(metadata).warning,
            "--linear: the ICC profile has tables instead of curves; sRGB's curve is used instead");
  metadata.coding_points = {9, 16, 0, 1};
  EXPECT_EQ(light_curves(metadata).warning,
            "--linear: the picture has the transfer function 16 (cICP), which is not supported; "
            "sRGB's curve is used instead");
  EXPECT_EQ(light_curves(metadata).colors, LightCurves{}.colors);
}

}  // namespace
}  // namespace gpufilter
