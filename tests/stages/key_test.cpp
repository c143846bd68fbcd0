// Stage::key(): different results, different keys.
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/pixel/mlp.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter {
namespace {

// As the command line makes it.
std::string key_of(const std::string& option, const std::string& value,
                   const GivenParameters& parameters = {}) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == option) return kind.make(value, parameters)->key();
  }
  return "no such stage";
}

std::string network_key(float weight, float bias, Activation activation) {
  Network network;
  network.layers.push_back({3, {1, 0, 0, 0, weight, 0, 0, 0, 1}, {0, bias, 0}, activation});
  return make_mlp(std::move(network))->key();
}

TEST(StageKey, DiffersWhereResultsDo) {
  const std::vector<std::string> keys{key_of("--blur", "auto"),
                                      key_of("--blur", "auto", {{"--border", "wrap"}}),
                                      key_of("--blur", "auto", {{"--alpha", "independent"}}),
                                      key_of("--color", "1 0 0; 0 1 0; 0 0 1"),
                                      key_of("--color", "1 0 0; 0 1 0; 0 0 0.1"),
                                      key_of("--color", "1 0 0; 0 1 0; 0 0 0.10000001"),
                                      key_of("--color", "1 0 0 0; 0 1 0 0; 0 0 1 0.5"),
                                      key_of("--levels", "auto"),
                                      key_of("--levels", "auto=1"),
                                      key_of("--levels", "1,10"),
                                      key_of("--levels", "1%,10%"),
                                      key_of("--levels", "1,100"),
                                      key_of("--tonemap", "reinhard"),
                                      key_of("--tonemap", "filmic"),
                                      key_of("--tonemap", "reinhard=0.2"),
                                      network_key(1, 0, Activation::none),
                                      network_key(0.1F, 0, Activation::none),
                                      network_key(1, 0.1F, Activation::none),
                                      network_key(1, 0, Activation::relu)};
  const std::set<std::string> different(keys.begin(), keys.end());
  EXPECT_EQ(different.size(), keys.size()) << ::testing::PrintToString(keys);
}

TEST(StageKey, IsTheSameForTheSameResult) {
  EXPECT_EQ(key_of("--blur", "naive"), key_of("--blur", "tiled", {{"--tile", "8"}}));
  EXPECT_EQ(key_of("--blur", "auto"), key_of("--blur", "auto", {{"--border", "replicate"}}));
  EXPECT_EQ(key_of("--color", "1 0 0; 0 1 0; 0 0 .5"), key_of("--color", "1 0 0; 0 1 0; 0 0 0.50"));
  EXPECT_EQ(key_of("--levels", "auto"), key_of("--levels", "auto=0"));
  EXPECT_EQ(key_of("--tonemap", "reinhard"), key_of("--tonemap", "reinhard=0.18"));
}

}  // namespace
}  // namespace gpufilter
