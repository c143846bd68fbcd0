#include "pipeline/dispatcher.hpp"

#include "pipeline/learning.hpp"

namespace gpufilter {

Assignment SoleDispatcher::assign(const PictureTask& /*task*/) {
  return {engine_.get(), {}, nullptr};
}

void SoleDispatcher::completed(const PictureTask& task, const RunReport& report) {
  if (store_) learn_from(*store_, vendors_, task, report);
}

void SoleDispatcher::conclude() {
  engine_->keep_programs();
  if (store_) store_->save();
}

}  // namespace gpufilter
