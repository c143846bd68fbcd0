// Stages whose result depends on which side of the picture is up.
#pragma once

namespace gpufilter {

// A stage that is one gets upright pictures, unless --orientation says otherwise.
class HasUp {
 public:
  virtual ~HasUp() = default;
  // false: not with these parameters.
  [[nodiscard]] virtual bool has_up() const { return true; }
};

}  // namespace gpufilter
