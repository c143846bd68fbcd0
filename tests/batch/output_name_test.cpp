// Names of results.
#include "batch/output_name.hpp"

#include "codec/codec_table.hpp"
#include "codec/formats.hpp"
#include "support/testing.hpp"

namespace gpufilter {
namespace {

TEST(OutputName, HasAnExtensionOfItsFormat) {
  for (const char* name : {"a.png", "sub/a.JPG", "noending", "a.dat"})
    EXPECT_EQ(output_name(name, nullptr), name);
  EXPECT_EQ(output_name("a.PNG", &png_codec()), "a.PNG");
  EXPECT_EQ(output_name("a.jpeg", &jpeg_codec()), "a.jpeg");
  EXPECT_EQ(output_name("sub.png/a.png", &jpeg_codec()), "sub.png/a.jpg");
  EXPECT_EQ(output_name("a.b.JPEG", &png_codec()), "a.b.png");
  EXPECT_EQ(output_name("holiday.2024", &png_codec()), "holiday.2024.png");
  EXPECT_EQ(output_name("sub.png/a", &jpeg_codec()), "sub.png/a.jpg");
}

std::string refusal(const std::string& text) {
  return test::objection_to([&] { return NameTemplate(text); }, "accepted");
}

std::string refusal(const std::string& text, const std::string& input, const Codec* to) {
  try {
    return "accepted: " + NameTemplate(text).name_for({input, to});
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(NameTemplates, StandForPartsOfAnyPath) {
  const auto name = [](const std::string& text, const Codec* to = nullptr) {
    return NameTemplate(text).name_for({"photos/May.24/x.y.JPEG", to});
  };
  EXPECT_EQ(name("{stem}.{to}"), "x.y.JPEG");
  EXPECT_EQ(name("{stem}.{to}", &jpeg_codec()), "x.y.JPEG");
  EXPECT_EQ(name("{stem}.{to}", &png_codec()), "x.y.png");
  EXPECT_EQ(name("{stem}-{ext}.{to}", &png_codec()), "x.y-JPEG.png");
  EXPECT_EQ(name("{name}.png"), "x.y.JPEG.png");
  EXPECT_EQ(name("{parent}_{name}"), "May.24_x.y.JPEG");
  EXPECT_EQ(name("{ext}/{to}/a{{b}}.{to}", &png_codec()), "JPEG/png/a{b}.png");
  EXPECT_EQ(name("{{stem}}.jpg"), "{stem}.jpg");
  const auto here = std::filesystem::current_path();
  const NameTemplate parents("{parent}/{stem}.png");
  EXPECT_EQ(parents.name_for({"x.png", nullptr}), here.filename().string() + "/x.png");
  EXPECT_EQ(parents.name_for({"./x.png", nullptr}), here.filename().string() + "/x.png");
  EXPECT_EQ(parents.name_for({"a/..//b/./x.png", nullptr}), "b/x.png");
  EXPECT_EQ(parents.name_for({"../x.png", nullptr}),
            here.parent_path().filename().string() + "/x.png");
  EXPECT_EQ(NameTemplate("{stem}-{ext}.{to}").name_for({"a/noending", &png_codec()}),
            "noending-.png");
  EXPECT_EQ(NameTemplate("{parent}-{stem}.{to}").name_for({"/x.png", nullptr}), "-x.png");
}

TEST(NameTemplates, AreRefusedWithThePlace) {
  EXPECT_EQ(refusal("a-{stme}.{to}"),
            "--name 'a-{stme}.{to}': {stme} at character 3 is unknown; did you mean {stem}?");
  EXPECT_EQ(refusal("{12}"),
            "--name '{12}': {12} at character 1 is unknown; {stem}, {ext}, {name}, {parent}, "
            "{to}, {width}, {height}, {hash}, {date} and {n} are known");
  EXPECT_EQ(refusal("{n:a}"),
            "--name '{n:a}': {n:a} at character 1: write {n:04} for at least four digits");
  EXPECT_EQ(refusal("{date:%A}"),
            "--name '{date:%A}': {date:%A} at character 1: a date has %Y, %m, %d, %H, %M, %S, %j "
            "or %y");
  EXPECT_EQ(refusal("{stem:4}"),
            "--name '{stem:4}': {stem:4} at character 1: only {date:...} and {n:...} have a form");
  EXPECT_EQ(refusal("{{{stem.png"),
            "--name '{{{stem.png': the { at character 3 is not closed; write {{ for a brace");
  EXPECT_EQ(refusal("{stem}}.png"),
            "--name '{stem}}.png': the } at character 7 closes nothing; write }} for a brace");
  EXPECT_EQ(refusal(""), "--name '': is empty; {stem}.{to} is the usual name");
  EXPECT_EQ(refusal("/{name}"),
            "--name '/{name}': '' at character 1 is not a name in the output "
            "folder");
  EXPECT_EQ(refusal("a/../../{name}"),
            "--name 'a/../../{name}': '..' at character 3 is not a name in the output folder");
  EXPECT_EQ(refusal("{stem}/./{name}"),
            "--name '{stem}/./{name}': '.' at character 8 is not a name in the output folder");
  EXPECT_EQ(refusal("{name}/"),
            "--name '{name}/': '' at character 8 is not a name in the output "
            "folder");
}

TEST(NameTemplates, KeepResultsInTheFolderAndEndLikeTheFormat) {
  EXPECT_EQ(refusal("{stem}/x.{to}", "in/...png", nullptr),
            "--name '{stem}/x.{to}': in/...png would become '../x.png', which is not a name for a "
            "result");
  EXPECT_EQ(refusal("{stem}/x.{to}", "in/.png", nullptr),
            "--name '{stem}/x.{to}': in/.png would become '/x.png', which is not a name for a "
            "result");
  EXPECT_EQ(refusal(".gpufilter-shards/{name}", "in/a.png", nullptr),
            "--name '.gpufilter-shards/{name}': in/a.png would become '.gpufilter-shards/a.png', "
            "which is not a name for a result");
  EXPECT_EQ(refusal("{stem}", "in/a.png", nullptr),
            "--name '{stem}': in/a.png would become 'a', which does not end in " +
                extensions_of(codecs()) + "; let the template end in .{to}");
  EXPECT_EQ(refusal("{stem}.{to}", "in/a.orig", nullptr),
            "--name '{stem}.{to}': in/a.orig would become 'a.orig', which does not end in " +
                extensions_of(codecs()) + "; let the template end in .{to} and set --to");
  EXPECT_EQ(refusal("{stem}.png", "in/a.png", &jpeg_codec()),
            "--name '{stem}.png': in/a.png would become 'a.png', which does not end in .jpg, "
            ".jpeg, .jpe or .jfif; let the template end in .{to}");
  EXPECT_EQ(refusal("{stem}.JPEG", "in/a.png", &jpeg_codec()), "accepted: a.JPEG");
}

}  // namespace
}  // namespace gpufilter
