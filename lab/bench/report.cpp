#include "lab/bench/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/machine_memory.hpp"
#include "base/printable.hpp"
#include "base/terminal.hpp"
#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "chart/svg_chart.hpp"
#include "device/device_choice.hpp"
#include "device/device_info.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter::lab {
namespace {

// Stores the number, unless the row has one that does not come before it in this order.
template <typename Order = std::less<>>
void store_last(Row& row, const char* key, std::uint64_t number, Order order = {}) {
  const auto value = static_cast<std::int64_t>(number);
  const auto found = row.find(key);
  if (found == row.end() || order(std::get<std::int64_t>(found->second), value)) row[key] = value;
}

}  // namespace

std::vector<Column> resource_columns() {
  return {{"registers", "registers"},
          {"spilled_bytes", "spilled"},
          {"private_bytes", "private"},
          {"resident_groups", "groups a unit"}};
}

void add_resources(Row& row, const std::vector<KernelFigures>& kernels, std::uint64_t registers) {
  for (const KernelFigures& kernel : kernels) {
    if (kernel.limits.private_bytes > 0)
      store_last(row, "private_bytes", kernel.limits.private_bytes);
    if (!kernel.compiled) continue;
    store_last(row, "registers", kernel.compiled->registers);
    store_last(row, "spilled_bytes", kernel.compiled->spilled_bytes);
    if (const auto groups = resident_groups(kernel, kernel.limits.stated_group, registers))
      store_last(row, "resident_groups", *groups, std::greater<>());
  }
}

namespace {

// The distance from |number| to the next float above it.
double ulp_at(double number) {
  constexpr int precision = std::numeric_limits<float>::digits;
  constexpr int smallest = std::numeric_limits<float>::min_exponent;
  const int exponent = number == 0 ? smallest : std::max(std::ilogb(number) + 1, smallest);
  return std::ldexp(1.0, exponent - precision);
}

}  // namespace

LargestErrors largest_errors(std::span<const float> found, std::span<const double> expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LargestErrors errors;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double number = found[i];
    const double right = expected[i];
    if (number == right || (std::isnan(number) && std::isnan(right))) continue;
    if (!std::isfinite(number) || !std::isfinite(right)) return {infinity, infinity, infinity};
    const double error = std::abs(number - right);
    errors.absolute = std::max(errors.absolute, error);
    if (right != 0) errors.relative = std::max(errors.relative, error / std::abs(right));
    errors.ulp = std::max(errors.ulp, error / ulp_at(right));
  }
  return errors;
}

std::vector<Column> error_columns() {
  return {{"max_ulp_error", "ulp error", 3},
          {"max_absolute_error", "abs error", 3},
          {"max_relative_error", "rel error", 3}};
}

void add_errors(Row& row, const LargestErrors& errors) {
  row["max_absolute_error"] = errors.absolute;
  row["max_relative_error"] = errors.relative;
  row["max_ulp_error"] = errors.ulp;
}

namespace {

// The minimum length of a trial on the host: shorter work is repeated.
constexpr double shortest_trial = 2e-3;
constexpr int max_repetitions = 10000;
// The maximum time of all trials on the host together; the first one always runs to its end.
constexpr double longest_measurement = 5;

double time_of(const std::function<void()>& work, int repetitions) {
  const Nanoseconds start = now();
  for (int i = 0; i < repetitions; ++i)
    work();
  return seconds(now() - start) / repetitions;
}

double time_on_device(const std::vector<Event>& events) {
  Nanoseconds start = INT64_MAX;
  Nanoseconds end = 0;
  for (const Event& event : events) {
    const Event::Times times = event.times();
    start = std::min(start, times.start);
    end = std::max(end, times.start + times.duration);
  }
  return seconds(end - start);
}

}  // namespace

Spread spread_of(std::span<const double> seconds) {
  const auto count = static_cast<double>(seconds.size());
  Spread spread;
  spread.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count;
  spread.minimum = *std::min_element(seconds.begin(), seconds.end());
  spread.maximum = *std::max_element(seconds.begin(), seconds.end());
  double squares = 0;
  for (const double each : seconds)
    squares += (each - spread.mean) * (each - spread.mean);
  spread.deviation = seconds.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return spread;
}

Measurement measure(int trials, const std::function<void()>& work) {
  const double first = time_of(work, 1);
  const double affordable = longest_measurement / std::max(first, 1e-9) - 1;
  if (affordable < 1) return {spread_of(std::array{first}), std::nullopt, 1};
  trials = static_cast<int>(std::min<double>(affordable, trials));
  const double wanted = std::ceil(shortest_trial / std::max(first, 1e-9));
  const int repetitions =
      first < shortest_trial ? static_cast<int>(std::min<double>(wanted, max_repetitions)) : 1;
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(trials));
  for (int i = 0; i < trials; ++i)
    times.push_back(time_of(work, repetitions));
  return {spread_of(times), std::nullopt, trials};
}

Measurement measure(int trials, Queue& queue, const QueuedWork& work) {
  static_cast<void>(work());
  queue.finish();
  std::vector<double> wall;
  std::vector<double> events;
  for (int i = 0; i < trials; ++i) {
    const Nanoseconds start = now();
    const std::vector<Event> commands = work();
    queue.finish();
    wall.push_back(seconds(now() - start));
    events.push_back(time_on_device(commands));
  }
  return {spread_of(wall), spread_of(events), trials};
}

const char* bits_of(bool equal) {
  return equal ? bits_equal : bits_differ;
}

bool Report::failed() const {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    const auto bits = row.find("bits");
    return bits != row.end() && bits->second == Value(std::string(bits_differ));
  });
}

std::vector<Column> joined(std::initializer_list<std::vector<Column>> parts) {
  std::vector<Column> columns;
  for (const std::vector<Column>& part : parts)
    columns.insert(columns.end(), part.begin(), part.end());
  return columns;
}

std::vector<Column> time_columns() {
  return {{"mean_ms", "mean ms", 4},  {"min_ms", "min", 4},      {"max_ms", "max", 4},
          {"deviation_ms", "dev", 2}, {"wall_ms", "wall ms", 4}, {"trials", ""}};
}

void add_times(Row& row, const Measurement& measurement) {
  const Spread& spread = measurement.best_clock();
  row["mean_ms"] = 1e3 * spread.mean;
  row["min_ms"] = 1e3 * spread.minimum;
  row["max_ms"] = 1e3 * spread.maximum;
  row["deviation_ms"] = 1e3 * spread.deviation;
  row["wall_ms"] = 1e3 * measurement.wall.mean;
  row["trials"] = std::int64_t{measurement.trials};
}

std::optional<double> number_in(const Row& row, const std::string& key) {
  const auto found = row.find(key);
  if (found == row.end()) return std::nullopt;
  if (const auto* number = std::get_if<double>(&found->second)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&found->second))
    return static_cast<double>(*number);
  return std::nullopt;
}

namespace {

// `digits` significant digits, without an exponent if that is readable.
std::string number_text(double number, int digits) {
  const double size = std::abs(number);
  if (size != 0 && (size < 1e-5 || size >= 1e9)) return formatted("{:.{}e}", number, digits - 1);
  const int before = size < 1 ? 0 : static_cast<int>(std::floor(std::log10(size))) + 1;
  const int leading_zeros =
      size < 1 && size > 0 ? static_cast<int>(std::floor(-std::log10(size))) : 0;
  return formatted("{:.{}f}", number, std::max(0, digits - before + leading_zeros));
}

// A value in CSV; numbers have `digits` significant digits if that is not 0.
std::string value_text(const Value& value, int digits = 0) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return "";
  return digits == 0 ? formatted("{}", *number) : number_text(*number, digits);
}

// The value in a row's column; empty if the row has none.
Value value_in(const Row& row, const std::string& key) {
  const auto found = row.find(key);
  return found == row.end() ? Value() : found->second;
}

// Texts are left-aligned in their column, numbers right-aligned.
bool holds_text(const Report& report, const std::string& key) {
  return std::any_of(report.rows.begin(), report.rows.end(), [&key](const Row& row) {
    return std::holds_alternative<std::string>(value_in(row, key));
  });
}

// A column of the table: its heading, and a cell for each row, all of one width.
struct Cells {
  const Column* column;
  std::vector<std::string> texts;
};

// Nothing for a column that is hidden or has no values.
std::optional<Cells> cells_of(const Report& report, const Column& column) {
  Cells cells{&column, {column.heading}};
  std::size_t width = column.heading.size();
  bool any = false;
  for (const Row& row : report.rows) {
    cells.texts.push_back(printable(value_text(value_in(row, column.key), column.digits)));
    width = std::max(width, cells.texts.back().size());
    any = any || !cells.texts.back().empty();
  }
  if (column.heading.empty() || !any) return std::nullopt;
  const bool is_text = holds_text(report, column.key);
  for (std::string& cell : cells.texts)
    cell = is_text ? formatted("{:<{}}", cell, width) : formatted("{:>{}}", cell, width);
  return cells;
}

constexpr std::size_t widest = 80;  // of a terminal

std::string parameter_line(const Parameter& parameter) {
  return formatted(
      "{:<10} {}{}{}\n", parameter.heading.empty() ? parameter.name : parameter.heading,
      printable(value_text(parameter.value, 4)), parameter.unit.empty() ? "" : " ", parameter.unit);
}

std::size_t width_of(const std::vector<Cells>& table) {
  std::size_t width = 0;
  for (const Cells& cells : table)
    width += (width > 0 ? 2 : 0) + cells.texts.front().size();
  return width;
}

// Makes a table fit a terminal: columns that say the least are left out; those that say the same in
// each row become lines above the table; then columns are left out from the right. Returns the
// lines, and the keys of what was left out.
std::pair<std::string, std::vector<std::string>> narrow(const Report& report,
                                                        std::vector<Cells>& table) {
  constexpr std::array expendable{"deviation_ms",    "max_ms",    "min_ms",    "private_bytes",
                                  "spilled_bytes",   "registers", "variant",   "gflops_wall",
                                  "resident_groups", "wall_ms",   "tops_wall", "checksum"};
  std::string lines;
  std::vector<std::string> removed;
  const auto remove = [&](std::vector<Cells>::iterator column) {
    removed.push_back(column->column->key);
    table.erase(column);
  };
  for (std::size_t i = 0; i < expendable.size() && width_of(table) > widest; ++i) {
    const auto has_key = [&](const Cells& cells) { return cells.column->key == expendable[i]; };
    if (const auto found = std::ranges::find_if(table, has_key); found != table.end())
      remove(found);
  }
  for (auto column = table.begin(); column != table.end() && width_of(table) > widest;) {
    const std::vector<std::string>& texts = column->texts;
    const bool is_common =
        column->column->key != "bits" && texts.size() > 2 &&
        std::all_of(texts.begin() + 1, texts.end(), [&](const auto& t) { return t == texts[1]; });
    if (is_common)
      lines += parameter_line(
          {column->column->heading, value_in(report.rows.front(), column->column->key)});
    column = is_common ? table.erase(column) : column + 1;
  }
  for (auto column = table.end(); column > table.begin() + 2 && width_of(table) > widest;) {
    --column;
    if (column->column->key != "bits" && column->column->key != "mean_ms") remove(column);
  }
  return {lines, removed};
}

std::string aligned_table(const Report& report) {
  std::vector<Cells> table;
  for (const Column& column : report.columns) {
    if (auto cells = cells_of(report, column)) table.push_back(*std::move(cells));
  }
  std::string text;
  std::vector<std::string> removed;
  if (!report.has_chosen_columns) std::tie(text, removed) = narrow(report, table);
  text += "\n";
  for (std::size_t i = 0; i <= report.rows.size(); ++i) {
    std::string line;
    for (const Cells& cells : table)
      line += (line.empty() ? "" : "  ") + cells.texts[i];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (!removed.empty())
    text += folded(formatted("not shown: {} (--columns)\n", fmt::join(removed, ", ")), widest);
  return text;
}

std::string corners_text(const Report& report) {
  std::string text;
  for (const lab::Corner& corner : report.corners) {
    text += formatted("{}\n", corner.name);
    for (const auto& row : corner.rows) {
      text += " ";
      for (const float number : row)
        text += formatted(" {:>14}", formatted("{:.8g}", number));
      text += "\n";
    }
  }
  return text;
}

Json json_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return nullptr;
}

Json json_of(const Report& report, const Row& row) {
  Json json = Json::object();
  for (const Column& column : report.columns)
    json[column.key] = json_of(value_in(row, column.key));
  return json;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string date_now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), size};
}

void choose_columns(Report& report, const std::vector<std::string>& keys) {
  std::vector<Column> chosen;
  for (const std::string& key : keys) {
    const auto found = std::ranges::find(report.columns, key, &Column::key);
    if (found == report.columns.end()) {
      std::vector<std::string> known;
      for (const Column& column : report.columns)
        known.push_back(column.key);
      throw UsageError(formatted("--columns: '{}' is not a column; those are {}", printable(key),
                                 fmt::join(known, ", ")));
    }
    chosen.push_back(*found);
    if (chosen.back().heading.empty()) chosen.back().heading = key;
  }
  report.columns = std::move(chosen);
  report.has_chosen_columns = true;
}

std::string bench_text(const Report& report, const std::string& date) {
  std::string text =
      formatted("bench {}, gpufilter " GPUFILTER_VERSION ", {}\n", report.bench, date);
  if (report.device.empty()) {
    text +=
        formatted("device     none{}\n",
                  report.fallback.empty() ? "" : formatted(" ({})", printable(report.fallback)));
  } else {
    text += folded(formatted("device     {}; {}, driver {}\n", printable(report.device),
                             printable(brief_version(report.platform)), printable(report.driver)),
                   widest);
  }
  text += folded(formatted("processor  {}\n", printable(report.processor)), widest);
  for (const Parameter& parameter : report.parameters)
    text += folded(parameter_line(parameter), widest);
  text += aligned_table(report);
  if (const auto* chart = std::get_if<LineChart>(&report.chart))
    text += "\n" + lab::draw_as_text(*chart, widest);
  if (!report.corners.empty()) text += formatted("\n{}", corners_text(report));
  if (!report.listing.empty()) text += "\n" + folded(report.listing, widest);
  if (!report.notes.empty()) text += "\n";
  for (const std::string& note : report.notes)
    text += folded(printable(note), widest) + "\n";
  return text;
}

std::string bench_json(const Report& report, const std::string& date) {
  Json parameters = Json::object();
  for (const Parameter& parameter : report.parameters)
    parameters[parameter.name] = json_of(parameter.value);
  Json rows = Json::array();
  for (const Row& row : report.rows)
    rows.push_back(json_of(report, row));
  Json corners = Json::object();
  for (const lab::Corner& corner : report.corners)
    corners[corner.name] = corner.rows;
  Json device = nullptr;
  if (!report.device.empty()) {
    device = {{"name", report.device}, {"platform", report.platform}, {"driver", report.driver}};
  }
  const Json json{{"schema", "gpufilter-bench-1"},
                  {"bench", report.bench},
                  {"version", GPUFILTER_VERSION},
                  {"date", date},
                  {"device", device},
                  {"fallback", report.fallback},
                  {"processor", report.processor},
                  {"parameters", parameters},
                  {"all_bits_equal", !report.failed()},
                  {"rows", rows},
                  {"corners", corners},
                  {"notes", report.notes}};
  return json.indented(2) + "\n";
}

std::string bench_csv(const Report& report, const std::string& date) {
  std::string csv = "bench,version,date,device,driver,processor";
  for (const Column& column : report.columns)
    csv += formatted(",{}", column.key);
  csv += "\n";
  for (const Row& row : report.rows) {
    csv +=
        formatted("{},{},{},{},{},{}", report.bench, GPUFILTER_VERSION, date,
                  csv_field(report.device), csv_field(report.driver), csv_field(report.processor));
    for (const Column& column : report.columns)
      csv += formatted(",{}", csv_field(value_text(value_in(row, column.key))));
    csv += "\n";
  }
  return csv;
}

namespace {

// The label of a row; numbers that are not whole have their column's heading, which is the unit:
// "1.049 MB".
std::string label_in(const Report& report, const Row& row, const std::string& key) {
  const Value value = value_in(row, key);
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return value_text(value);
  const auto column = std::find_if(report.columns.begin(), report.columns.end(),
                                   [&key](const auto& each) { return each.key == key; });
  return formatted("{:.4g} {}", *number, column->heading);
}

// "device: NVIDIA H200; processor: EPYC 9474F; gpufilter 1.0.0, 2026-01-31".
std::string subtitle_of(const Report& report, const std::string& date) {
  const std::string device = report.device.empty() ? "" : "device: " + report.device + "; ";
  return formatted("{}processor: {}; gpufilter " GPUFILTER_VERSION ", {}", device,
                   report.processor.substr(0, report.processor.find(',')), date.substr(0, 10));
}

std::string draw(const Report& report, const ChartOfLines& chart, const std::string& subtitle) {
  LineChart lines{{chart.title, subtitle, chart.x_label, chart.y_label}, {}};
  if (!report.device.empty()) lines.dashed_label = "dashed: the processor; solid: the device";
  for (const Row& row : report.rows) {
    const auto x = number_in(row, chart.x);
    const auto y = number_in(row, chart.y);
    if (!x || !y || *x <= 0 || *y <= 0) continue;
    const std::string label = value_text(value_in(row, "kernel"));
    auto line = std::find_if(lines.lines.begin(), lines.lines.end(),
                             [&label](const auto& each) { return each.label == label; });
    if (line == lines.lines.end()) {
      const bool dashed = value_text(value_in(row, "where")) == lab::on_processor;
      line = lines.lines.insert(line, {label, {}, dashed});
    }
    line->points.push_back({*x, *y});
  }
  for (LineChart::Line& line : lines.lines) {
    std::sort(line.points.begin(), line.points.end(),
              [](const auto& a, const auto& b) { return a.x < b.x; });
  }
  return lab::draw(lines);
}

std::string draw(const Report& /*report*/, LineChart chart, const std::string& subtitle) {
  chart.titles.subtitle = subtitle;
  return lab::draw(chart);
}

std::string draw(const Report& report, const ChartOfBars& chart, const std::string& subtitle) {
  BarChart bars;
  bars.titles = {chart.title, subtitle, chart.value_label, ""};
  bars.mark_label = chart.mark_label;
  if (chart.ceiling) bars.ceiling = Ceiling{*chart.ceiling, chart.ceiling_label};
  for (const Row& row : report.rows) {
    const auto value = number_in(row, chart.value);
    if (!value) continue;
    std::string label;
    for (const std::string& key : chart.labels) {
      const std::string part = label_in(report, row, key);
      if (!part.empty()) label += (label.empty() ? "" : ", ") + part;
    }
    const std::string group = value_text(value_in(row, "where"));
    const auto known = std::find(bars.groups.begin(), bars.groups.end(), group);
    const auto index = static_cast<std::size_t>(known - bars.groups.begin());
    if (known == bars.groups.end()) bars.groups.push_back(group);
    bars.bars.push_back({label, *value, index, number_in(row, chart.mark)});
  }
  return lab::draw(bars);
}

}  // namespace

std::string bench_chart(const Report& report, const std::string& date) {
  const std::string subtitle = subtitle_of(report, date);
  return std::visit([&](const auto& chart) { return draw(report, chart, subtitle); }, report.chart);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

Report TestBed::start_report(const std::string& bench) const {
  Report report;
  report.bench = bench;
  report.fallback = fallback;
  if (session) {
    report.device = session->device().name;
    report.platform = session->device().platform_version;
    report.driver = session->device().driver_version;
  }
  report.processor = formatted("{}, {} threads, {}", processor_name(), allowed_threads(),
                               to_string(instruction_set()));
  report.parameters.push_back({"trials", std::int64_t{trials}});
  return report;
}

TestBed make_test_bed(const std::string& request, bool require_device) {
  TestBed bed;
  if (request == "cpu") {
    static_cast<void>(choose_devices(request, require_device, {}));
    return bed;
  }
  const DeviceCandidates candidates = device_candidates(request, require_device, device_catalog());
  auto candidate = candidates(0);
  for (std::size_t place = 0; candidate; candidate = candidates(++place)) {
    if (!candidate->device) {
      if (bed.fallback.empty()) bed.fallback = candidate->reason;
      return bed;
    }
    try {
      bed.session = start_session(*candidate->device, default_engine_options());
      return bed;
    } catch (const DeviceError& error) {
      bed.fallback = error.what();
    }
  }
  throw DeviceError(bed.fallback);
}

void check_memory(const TestBed& bed, const std::string& subject, double bytes,
                  double buffer_bytes) {
  constexpr double gigabyte = 1e9;
  const auto refuse = [&](double needed, const std::string& what, double available) {
    throw UsageError(formatted("{}: takes {:.3g} GB {}; {} GB are available", subject,
                               needed / gigabyte, what, formatted("{:.3g}", available / gigabyte)));
  };
  const auto memory = static_cast<double>(machine_memory());
  if (bytes > memory) refuse(bytes, "of memory", memory);
  if (!bed.session) return;
  const auto largest = static_cast<double>(bed.session->device().max_allocation);
  if (buffer_bytes > largest)
    refuse(buffer_bytes, formatted("in one buffer of {}", bed.session->device().name), largest);
}

bool has_gpu(const TestBed& bed) {
  return bed.session && bed.session->device().kind == DeviceKind::gpu;
}

}  // namespace gpufilter::lab
