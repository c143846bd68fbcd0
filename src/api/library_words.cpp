#include "api/library_words.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

constexpr std::string_view option_dashes = "--";

bool is_option_letter(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}

bool begins_option(std::string_view text, std::size_t at) {
  const bool begins_word =
      at == 0 || std::string_view(" ('").find(text[at - 1]) != std::string_view::npos;
  const std::string_view rest = text.substr(at);
  return begins_word && rest.starts_with(option_dashes) && rest.size() > option_dashes.size() &&
         is_option_letter(rest[option_dashes.size()]);
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

// Subcommands, and command lines that are proposed.
void replace_commands(std::string& text) {
  replace(text, "'gpufilter devices'", "devices()");
  const std::size_t proposal = text.find("; gpufilter ");
  if (proposal != std::string::npos) text.erase(proposal);
}

}  // namespace

std::string library_words(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (!begins_option(text, i)) {
      result += text[i++];
      continue;
    }
    for (i += option_dashes.size();
         i < text.size() && (is_option_letter(text[i]) || text[i] == '-'); ++i)
      result += text[i] == '-' ? '_' : text[i];
  }
  replace_commands(result);
  return result;
}

void rethrow_in_library_words() {
  try {
    throw;
  } catch (const UsageError& error) {
    const std::string text = library_words(error.what());
    if (text == error.what()) throw;
    throw UsageError(text);
  } catch (const DeviceError& error) {
    throw DeviceError(library_words(error.what()));
  } catch (const PictureError& error) {
    const std::string_view text = error.what();
    const std::size_t end = std::min(text.find(": "), text.size());
    const std::string_view reason = text.substr(std::min(end + 2, text.size()));
    const std::string translated = library_words(reason);
    if (translated == reason) throw;
    throw PictureError(text.substr(0, end), translated);
  } catch (const std::overflow_error&) {
    throw UsageError("no memory is as large as such a picture");
  }
}

void refuse_nul(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (text.find('\0') != std::string_view::npos)
      throw UsageError(formatted("{}: the character NUL is not allowed here", printable(text)));
  }
}

}  // namespace gpufilter
