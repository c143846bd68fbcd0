// The results of a benchmark: a table, and the facts needed to read it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lab/bench/measurement.hpp"

namespace gpufilter::lab {

using Value = std::variant<std::monostate, std::string, double, std::int64_t>;

struct Column {
  std::string key;      // in JSON and CSV; names the unit: "mean_ms"
  std::string heading;  // in the table; empty: not shown there
  int digits = 3;       // of numbers, significant
};

// Values by the keys of columns. A row whose "bits" are `bits_differ` has failed.
using Row = std::map<std::string, Value>;

// The values of the column "bits".
inline constexpr const char* bits_equal = "equal";
inline constexpr const char* bits_differ = "DIFFER";
inline constexpr const char* bits_differ_by_design = "differ by design";
[[nodiscard]] const char* bits_of(bool equal);

struct ChartOfLines {
  std::string title;
  std::string x, y;  // keys of columns
  std::string x_label, y_label;
};

struct ChartOfBars {
  std::string title;
  std::string value;  // the key of a column; rows without it are not drawn
  std::string value_label;
  std::vector<std::string> labels;  // keys of the columns that name a bar
  std::string mark = {};            // a column: what would be ideal
  std::string mark_label = {};
  std::optional<double> ceiling = {};
  std::string ceiling_label = {};
};

// The upper left corner of a matrix.
struct Corner {
  std::string name;
  std::vector<std::vector<float>> rows;
};

// A parameter of the run, or a value that applies to all rows.
struct Parameter {
  std::string name;  // in JSON
  Value value;
  std::string heading = {};  // in the text; empty: the name
  std::string unit = {};     // there, after the value
};

struct Report {
  std::string bench;  // "matmul"
  // The device that was measured; empty if only the processor was.
  std::string device, platform, driver;
  std::string processor;  // name, threads, instruction set
  std::string fallback;   // why there is no device; empty: nobody expected one
  std::vector<Parameter> parameters;
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Corner> corners;
  std::vector<std::string> notes;
  std::variant<ChartOfLines, ChartOfBars> chart;

  [[nodiscard]] bool failed() const;  // whether bits of a row differ
};

// The keys "where" of rows.
inline constexpr const char* on_processor = "processor";
inline constexpr const char* on_device = "device";

[[nodiscard]] std::vector<Column> joined(std::initializer_list<std::vector<Column>> parts);

// mean_ms, min_ms, max_ms, deviation_ms of one clock, and wall_ms.
[[nodiscard]] std::vector<Column> time_columns();
void add_times(Row& row, const Measurement& measurement);

// The number in a row's column; nothing if the column has none.
[[nodiscard]] std::optional<double> number_in(const Row& row, const std::string& key);

}  // namespace gpufilter::lab
