// Every JSON document that the program prints follows its schema in docs/schemas.
#include <set>

#include "cli/batch_fixture.hpp"
#include "support/json_schema.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

class JsonSchemas : public ShardTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    put("a.png");
    put("b.jpg");
    write_png(random_image({9, 8}, {4, 16}, 1), in_ + "/alpha.png");
  }

  // Runs the program and keeps the document that it prints.
  void print(const Words& words, const ProcessOptions& options = {}) {
    const ProcessResult result = filter(words, options);
    const Json json = Json::parse(result.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << ::testing::PrintToString(words) << result.out << result.err;
    std::string name = json["schema"];
    ASSERT_TRUE(name.starts_with("gpufilter-") && name.ends_with("-1")) << name;
    name = name.substr(10, name.size() - 12);
    documents_["schemas/" + name + ".schema.json"].push_back(result.out);
  }

  void print_runs() {
    const std::string png = folder_ / "o.png";
    const std::string jpg = folder_ / "o.jpg";
    print({in_ + "/a.png", png, "--levels", "auto", "--timing", "json"});
    print({in_ + "/alpha.png", jpg, "--blur", "tiled", "--verify", "--timing", "json"});
    print({in_ + "/b.jpg", jpg, "--json"});
    print({in_ + "/alpha.png", jpg, "--json", "--verify"});
    print({in_ + "/a.png", png, "--json", "--on-exists", "skip"});
    print({in_ + "/b.jpg", png, "--json", "--dry-run"});
    print({in_ + "/missing.png", png, "--json"});
    print({in_ + "/a.png", png, "--json", "--output", folder_ / "more.jpg", "--blur", "auto"});
    print(command({"--json", "--dry-run", "--output", folder_ / "others/"}));
    print(command({"--json", "--output", folder_ / "others/"}));
    fs::remove_all(out_);
    print(command({"--json", "--dry-run"}));
    print(command({"--timing", "json", "--verify"}));
    write_file(in_ + "/damaged\xff.png", "text");
    print(command({"--json", "--resume", "--verify"}));
    print({in_ + "/a.png", in_ + "/damaged\xff.png", folder_ / "more/", "--to", "jpg", "--json"});
  }

  void print_comparisons() {
    print({"compare", in_ + "/a.png", in_ + "/a.png", "--json"});
    print({"compare", in_ + "/a.png", in_ + "/alpha.png", "--json"});
    print({"compare", in_ + "/a.png", folder_ / "o.png", "--json", "--diff", folder_ / "d.png"});
    print({"compare", in_, out_, "--json"});
    print({"stats", in_ + "/alpha.png", "--json"});
    print({"stats", in_ + "/a.png", "--json", "--device", "opencl"});
    print({"info", in_ + "/a.png", in_ + "/b.jpg", in_ + "/missing.png", "--json"});
    print({"info", GPUFILTER_SOURCE "/samples/landscape.jpg", "--json"});
  }

  void print_shards() {
    fs::remove_all(out_);
    static_cast<void>(shard(0, 2, {"-q"}));
    print({"gather", out_, "--json"});
    static_cast<void>(shard(1, 2, {"-q"}));
    print({"gather", out_, "--json"});
    fs::remove_all(out_);
    Words words = command({"--shard", "0/1", "--json"});
    print(words);
  }

  void print_measurements() {
    print({"devices", "--json"});
    print({"bench", "matmul", "--json", "--trials=1", "--sizes", "17", "--show", "2"});
    print({"verify", "levels", "--device", "cpu", "--depth", "8", "--json"});
    print({"verify", "blur", "--quick", "--channels", "3", "--depth", "8", "--json", "--diff",
           folder_ / "v.png", "--kernels", GPUFILTER_SOURCE "/samples/broken/no-edge"});
    const KernelFolder kernels(folder_ / "kernels");
    kernels.write("candidates.json", R"({
      "blur_naive": {"pixels": [1], "lines": [1], "groups": ["32x1", "128x1"]}})");
    kernels.write("tuned.json", R"({"tuned": []})");
    print({"tune", "blur", "--channels", "3", "--depth", "8", "--json"},
          {.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"},
                           {"XDG_CACHE_HOME", folder_ / "cache"}}});
  }

  std::map<std::string, Words> documents_;  // by the schema's file
};

// A schema that refuses nothing would prove nothing: it refuses unknown and missing fields.
void expect_strict(const std::string& schema, const Json& document) {
  Words wrong;
  for (const auto& [key, value] : document.items()) {
    if (key.ends_with("_hex")) continue;
    Json changed = document;
    changed[key] = Json{{"not", "expected"}};
    if (key != "parameters") wrong.push_back(changed.dump());
  }
  Json more = document;
  more["unknown"] = 1;
  wrong.push_back(more.dump());
  Json less = document;
  less.erase("schema");
  wrong.push_back(less.dump());
  const auto accepted = accepted_by_schema(schema, wrong);
  ASSERT_EQ(accepted.size(), wrong.size());
  for (std::size_t i = 0; i < wrong.size(); ++i)
    EXPECT_FALSE(accepted[i]) << schema << ": " << wrong[i];
}

TEST_F(JsonSchemas, DescribeEveryDocument) {
  GPUFILTER_REQUIRE_VALIDATOR();
  GPUFILTER_REQUIRE_DEVICE();
  print_runs();
  print_comparisons();
  print_shards();
  print_measurements();
  std::set<std::string> printed;
  for (const auto& [schema, texts] : documents_) {
    printed.insert(schema);
    const auto accepted = accepted_by_schema(schema, texts);
    ASSERT_EQ(accepted.size(), texts.size()) << schema;
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_TRUE(accepted[i]) << schema << ": " << texts[i];
    expect_strict(schema, Json::parse(texts.front()));
  }
  std::set<std::string> described;
  for (const auto& file : fs::directory_iterator(GPUFILTER_SOURCE "/docs/schemas"))
    described.insert("schemas/" + file.path().filename().string());
  EXPECT_EQ(printed, described);
}

}  // namespace
}  // namespace gpufilter::test
