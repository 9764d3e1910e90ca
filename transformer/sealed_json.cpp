#include "transformer/sealed_json.h"

#include "transformer/fingerprint.h"

namespace transformer {

namespace {

constexpr auto kChecksum = "checksum";

std::string checksum_of(const Json& json) { return fingerprint(text_of(json)); }

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

}  // namespace transformer
