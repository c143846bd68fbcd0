#include "stages/point/light_tables.hpp"

#include <cmath>
#include <cstddef>
#include <deque>
#include <mutex>
#include <tuple>
#include <utility>

namespace gpufilter {
namespace {

using std::size_t;

double largest(int bits) {
  return (1 << bits) - 1;
}

// The light of a sample of `bits` bits, which need not be a whole number.
double light_at(const TransferCurve& curve, double sample, int bits, int light_depth = light_bits) {
  return largest(light_depth) * light_of(curve, sample / largest(bits));
}

LightTable make_linear_table(const TransferCurve& curve, int bits) {
  LightTable table(size_t{1} << static_cast<unsigned>(bits));
  for (size_t i = 0; i < table.size(); ++i) {
    const double light = light_at(curve, static_cast<double>(i), bits);
    table[i] = static_cast<std::uint16_t>(std::nearbyint(light));
    if (bits != 8 || i == 0 || table[i] > table[i - 1]) continue;
    const int next = table[i - 1] + 1;
    if (next - light <= 1) table[i] = static_cast<std::uint16_t>(next);
  }
  return table;
}

// A sample ends where the light half way to the next one does, so only these are computed.
LightTable make_encoded_table(const TransferCurve& curve, int light_depth, int bits) {
  LightTable table(size_t{1} << static_cast<unsigned>(light_depth));
  const double last = largest(bits);
  double sample = 0;
  double end = light_at(curve, 0.5, bits, light_depth);
  for (size_t light = 0; light < table.size(); ++light) {
    while (sample < last && end < static_cast<double>(light)) {
      ++sample;
      end = light_at(curve, sample + 0.5, bits, light_depth);
    }
    table[light] = static_cast<std::uint16_t>(sample);
  }
  if (light_depth != light_bits || bits != 8) return table;
  const LightTable lights = make_linear_table(curve, bits);
  for (size_t i = 1; i < lights.size(); ++i) {
    const bool is_own = lights[i] > lights[i - 1];
    const auto own = static_cast<double>(i);
    const bool is_near = light_at(curve, own - 1, bits) <= lights[i] &&
                         (own == last || lights[i] <= light_at(curve, own + 1, bits));
    if (is_own && is_near) table[lights[i]] = static_cast<std::uint16_t>(i);
  }
  return table;
}

// Those that were made last: the pictures of a folder have the same few curves. Thread-safe.
class KeptTables {
 public:
  // `light_depth` is 0 for tables to light.
  std::shared_ptr<const LightTable> get(const TransferCurve& curve, int light_depth, int bits) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, table] : kept_) {
      if (known == Key{curve, light_depth, bits}) return table;
    }
    auto table = std::make_shared<const LightTable>(
        light_depth == 0 ? make_linear_table(curve, bits)
                         : make_encoded_table(curve, light_depth, bits));
    kept_.emplace_front(Key{curve, light_depth, bits}, table);
    if (kept_.size() > maximum) kept_.pop_back();
    return table;
  }

 private:
  static constexpr size_t maximum = 12;  // 128 KiB each
  using Key = std::tuple<TransferCurve, int, int>;

  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_ptr<const LightTable>>> kept_;
};

LightTables tables_of(const LightCurves& curves, int light_depth, int bits) {
  static KeptTables kept;
  LightTables tables;
  for (size_t c = 0; c < tables.size(); ++c)
    tables.at(c) = kept.get(curves.colors.at(c), light_depth, bits);
  return tables;
}

}  // namespace

LightTables linear_tables(const LightCurves& curves, int bits) {
  return tables_of(curves, 0, bits);
}

LightTables encoded_tables(const LightCurves& curves, int light_depth, int bits) {
  return tables_of(curves, light_depth, bits);
}

}  // namespace gpufilter
