#include "pipeline/known_programs.hpp"

#include "base/content_hash.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t chains_known = 64;

std::string note_name(const std::string& place) {
  return "programs of " + place;
}

std::string name_of(const PictureTask& task) {
  std::string text = formatted("{} {}", GPUFILTER_VERSION, to_string(task.shape.format));
  for (const auto& stage : task.chain)
    text += '\n' + stage->key();
  return to_string(content_hash(text)).substr(0, 16);
}

}  // namespace

bool has_programs(const RateStore& store, const std::string& place, const PictureTask& task) {
  return store.note(note_name(place)).find(name_of(task)) != std::string::npos;
}

void keep_programs_known(RateStore& store, const std::string& place, const PictureTask& task) {
  const std::string name = name_of(task);
  const std::string known = store.note(note_name(place));
  if (known.find(name) != std::string::npos) return;
  const std::size_t length = name.size() + 1;
  store.keep_note(note_name(place), name + " " + known.substr(0, (chains_known - 1) * length));
}

}  // namespace gpufilter
