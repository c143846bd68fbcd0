// How fast this machine is, as its runs have shown.
#pragma once

#include <memory>
#include <string>

#include "pipeline/choose/estimate.hpp"

namespace gpufilter {

struct RunReport;

// The place of the processor's rates, which differ between instruction sets.
[[nodiscard]] std::string host_place();

// The rates of the processor and of the GPU that was used last. Thread-safe.
class MachineRates {
 public:
  // `vendors` names the installed OpenCL vendors: what was learned about their GPU holds as long as
  // they stay the same. Empty: there are none, and so no GPU.
  explicit MachineRates(std::shared_ptr<RateStore> store = std::make_shared<RateStore>(),
                        std::string vendors = {})
      : store_(std::move(store)), vendors_(std::move(vendors)) {}

  [[nodiscard]] Rates rates() const { return {*store_, host_place(), gpu_place()}; }

  // Without the time to compile if the GPU has programs for such a picture from an earlier run: of
  // this version, with this chain and format. The last 64 of these are remembered, since the
  // program cache can be queried only once the device is started.
  [[nodiscard]] TaskTimes times(const PictureTask& task) const;

  // Whether a GPU is worth a search: there are vendors, and no search among them has failed within
  // the last week.
  [[nodiscard]] bool may_have_gpu() const;
  void keep_without_gpu();
  // "a GPU" if none was used yet.
  [[nodiscard]] std::string gpu_name() const;

  // Takes the times of a picture into account. In a folder several pictures share the cores, so
  // only the device's own times are meaningful.
  void learn(const PictureTask& task, const RunReport& report, bool in_folder);
  void save() { store_->save(); }

 private:
  // The GPU's name and driver; empty if none was used yet.
  [[nodiscard]] std::string gpu_place() const;
  [[nodiscard]] std::string gpu_note() const { return "GPU of " + vendors_; }

  std::shared_ptr<RateStore> store_;
  std::string vendors_;
};

}  // namespace gpufilter
