#include "manual/shell_text.hpp"

#include "app/help/help_layout.hpp"

namespace gpufilter::manual {

std::string joined(const std::vector<std::string>& list, std::string_view separator,
                   std::string (*form)(const std::string&)) {
  std::string result;
  for (const std::string& word : list) {
    if (!result.empty()) result += separator;
    result += form == nullptr ? word : form(word);
  }
  return result;
}

std::vector<std::string> extension_names(const Suggestions& suggestions) {
  std::vector<std::string> names;
  for (const std::string& extension : suggestions.extensions)
    names.push_back(extension.substr(1));
  return names;
}

std::vector<const DeclaredCommand*> subcommands(const std::vector<DeclaredCommand>& commands,
                                                const std::vector<std::string>& parent) {
  std::vector<const DeclaredCommand*> list;
  for (const DeclaredCommand& command : commands) {
    std::vector<std::string> above = command.words;
    if (above.empty()) continue;
    above.pop_back();
    if (above == parent) list.push_back(&command);
  }
  return list;
}

std::string filled_in(std::string_view frame,
                      const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text(frame);
  for (const auto& [name, value] : values) {
    const std::string mark = "@" + name + "@";
    for (std::size_t at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string summary_of(const DeclaredOption& option) {
  return first_sentence(option.description);
}

}  // namespace gpufilter::manual
