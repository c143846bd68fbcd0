#include "lab/bench/ceilings.hpp"

#include <cmath>

#include "compute/matrix_product.hpp"
#include "lab/bench/host_products.hpp"

namespace gpufilter::lab {
namespace {

constexpr std::size_t copy_bytes = std::size_t{64} << 20U;
constexpr std::size_t product_side = 1024;

}  // namespace

Ceilings measure_host_ceilings(const TestBed& bed) {
  Ceilings ceilings;
  TestBed host;
  host.trials = bed.trials;
  ceilings.copy = measure_copies(host, copy_bytes).all_cores;
  const std::vector<float> a(product_side * product_side, 0.5F);
  std::vector<float> c(a.size());
  const Product product{product_side, product_side, product_side, a.data(), a.data(), c.data()};
  const auto times = measure(bed.trials, [&] { host_products().back().run(product); });
  ceilings.operations = std::pow(static_cast<double>(product_side), 3) / times.wall.mean;
  return ceilings;
}

Ceilings measure_device_ceilings(const TestBed& bed) {
  Session& session = *bed.session;
  Ceilings ceilings;
  ceilings.copy = measure_copies(bed, copy_bytes).device;
  Queue queue = session.make_queue();
  const auto pinned = session.allocate_pinned(copy_bytes);
  const Buffer buffer = session.allocate(copy_bytes);
  const auto upload = measure(bed.trials, queue, [&] {
    return std::vector{queue.upload(buffer, pinned.get(), copy_bytes)};
  });
  ceilings.transfer = copy_bytes / upload.best_clock().mean;
  const int side = has_gpu(bed) ? int{product_side} : int{product_side} / 4;
  const MatrixProduct product(session, MatrixParameters{});
  const auto matrix_bytes = static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * 4;
  const Buffer a = session.allocate(matrix_bytes);
  const Buffer c = session.allocate(matrix_bytes);
  queue.upload(a, pinned.get(), matrix_bytes);
  const auto times = measure(bed.trials, queue, [&] {
    return std::vector{product.enqueue(queue, {a, a, c}, {side, side, side}, Activation::none)};
  });
  ceilings.operations = std::pow(static_cast<double>(side), 3) / times.best_clock().mean;
  return ceilings;
}

void add_ceilings(Report& report, const Ceilings& ceilings) {
  report.parameters.push_back(
      {"copy_gbytes_per_s", ceilings.copy * 1e-9, "memory", "GB/s, bytes read and bytes written"});
  if (ceilings.transfer > 0) {
    report.parameters.push_back(
        {"transfer_gbytes_per_s", ceilings.transfer * 1e-9, "transfer", "GB/s to the device"});
  }
  report.parameters.push_back({"gigaoperations_per_s", ceilings.operations * 1e-9, "arithmetic",
                               "billion multiply-adds a second"});
}

double operations_in(const Rate& rate) {
  constexpr double a_blurred_sample = 10;  // nine additions, and a product in place of a division
  constexpr double a_colored_pixel = 20;   // 12 multiply-adds, conversions of samples
  if (rate.kind.starts_with("blur")) return a_blurred_sample;
  return rate.kind.starts_with("color") ? a_colored_pixel : 1;
}

}  // namespace gpufilter::lab
