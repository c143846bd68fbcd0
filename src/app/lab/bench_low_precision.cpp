#include "app/lab/bench_low_precision.hpp"

#include <algorithm>

#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

using lab::Grouping;
using lab::NumberType;

constexpr int max_groups = 256;

std::vector<std::string> names_of_types() {
  std::vector<std::string> names;
  for (const NumberType type : lab::number_types) {
    if (type != NumberType::fp8_unpromoted) names.emplace_back(to_string(type));
  }
  return names;
}

}  // namespace

void add_number_types(Arguments& app, std::vector<std::string>& types) {
  app.add_option("--type", types,
                 formatted("Types of the numbers: {}.", enumerated(names_of_types(), "and")))
      ->delimiter(',')
      ->one_value_each()
      ->check(one_of(names_of_types()))
      ->option_text(formatted("TYPE,... [{}]",
                              types.empty() ? "all" : formatted("{}", fmt::join(types, ","))));
}

std::vector<NumberType> number_types_of(const std::vector<std::string>& names) {
  std::vector<NumberType> types;
  for (const NumberType type : lab::number_types) {
    const std::string name(
        to_string(type == NumberType::fp8_unpromoted ? NumberType::fp8_scaled : type));
    if (std::find(names.begin(), names.end(), name) != names.end()) types.push_back(type);
  }
  return types;
}

LowPrecisionOptions::LowPrecisionOptions(Arguments& app) {
  add_number_types(app, types_);
  app.add_option(
         "--grouped", grouping_,
         "Several products in one launch. contiguous: A's rows are divided among the groups. "
         "masked: each group has an A of its own, with some rows in use.")
      ->check(one_of({"contiguous", "masked"}))
      ->option_text("contiguous|masked");
  app.add_option("--groups", groups_, "Groups for --grouped. Each has a B of its own.")
      ->check(whole_number(1, max_groups))
      ->option_text(formatted("N [{}]", groups_));
}

bool LowPrecisionOptions::is_requested() const {
  return grouping_ != "dense" || types_ != std::vector<std::string>{"float32"};
}

lab::LowMatmulOptions LowPrecisionOptions::chosen(const Arguments& app,
                                                  const std::vector<int>& sides,
                                                  const std::vector<MatrixShape>& shapes) const {
  for (const char* other : {"--tile", "--plain", "--show", "--layout"}) {
    if (app.count(other) == 0) continue;
    throw UsageError(
        formatted("bench matmul: {} is for --type float32 alone, without --grouped", other));
  }
  lab::LowMatmulOptions options;
  options.types = number_types_of(types_);
  options.shapes = shapes;
  if (app.count("--sizes") > 0) {
    for (const int side : sides)
      options.shapes.push_back({side, side, side});
  }
  if (grouping_ != "dense") {
    options.grouping = grouping_ == "masked" ? Grouping::masked : Grouping::contiguous;
    options.groups = groups_;
  } else if (app.count("--groups") > 0) {
    throw UsageError("bench matmul: --groups is for --grouped");
  }
  return options;
}

}  // namespace gpufilter
