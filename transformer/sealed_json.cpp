#include "transformer/sealed_json.h"

#include "transformer/files.h"
#include "transformer/fingerprint.h"

namespace transformer {

namespace {

constexpr auto kChecksum = "checksum";

std::string checksum_of(const Json& json) { return fingerprint(text_of(json)); }

std::string written_form(const Json& json) { return text_of(json, 2) + "\n"; }

}  // namespace

Json sealed(Json json) {
  json.erase(kChecksum);
  json[kChecksum] = checksum_of(json);
  return json;
}

Json unsealed(Json json, const std::string& where) {
  if (!json.is_object() || !json.contains(kChecksum)) {
    throw Damaged(where + ": damaged: it has no checksum");
  }
  const Json stated = json[kChecksum];
  json.erase(kChecksum);
  if (stated != checksum_of(json)) {
    throw Damaged(where + ": damaged: its contents do not match its checksum");
  }
  return json;
}

void write_sealed(const std::filesystem::path& path, const Json& json) {
  write_file(path, written_form(sealed(json)));
}

Json read_sealed(const std::string& text, const std::string& where, Seal seal) {
  Json json = parse_json(text, where);
  const bool is_sealed = json.is_object() && json.contains(kChecksum);
  if (!is_sealed && seal == Seal::where_there_is_one) return json;
  const bool as_written = text == written_form(json);
  json = unsealed(std::move(json), where);
  if (!as_written) throw Damaged(where + ": damaged: a byte of it is not what was written");
  return json;
}

Json read_sealed(const std::filesystem::path& path, Seal seal) {
  try {
    return read_sealed(read_file(path), shown_path(path), seal);
  } catch (const UserError& error) {
    if (seal == Seal::where_there_is_one) throw;
    throw Damaged(error.what());
  }
}

}  // namespace transformer
