// What a stage is as well if its run() may get its source as its target.
#pragma once

namespace gpufilter {

// Each pixel of its result depends on that pixel of its source alone. Format and size stay.
class InPlace {
 public:
  InPlace() = default;
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;
  virtual ~InPlace() = default;
};

}  // namespace gpufilter
