#include "device/ptx_target.hpp"

namespace gpufilter {
namespace {

constexpr std::string_view hiding = "// sm_90a: ";
constexpr std::string_view target = "\n.target sm_90";

}  // namespace

bool has_hidden_instructions(std::string_view source) {
  return source.find(hiding, source.find("asm")) != std::string_view::npos;
}

std::optional<std::string> with_hidden_instructions(std::string ptx) {
  const std::size_t found = ptx.find(target);
  if (found == std::string::npos) return std::nullopt;
  const std::size_t end = found + target.size();
  if (end == ptx.size() || (ptx[end] != ',' && ptx[end] != '\n')) return std::nullopt;
  ptx.insert(end, "a");
  for (std::size_t at = ptx.find(hiding); at != std::string::npos; at = ptx.find(hiding, at))
    ptx.erase(at, hiding.size());
  return ptx;
}

}  // namespace gpufilter
