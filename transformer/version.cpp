#include "transformer/version.h"

namespace transformer {

const char* const kVersion = TRANSFORMER_VERSION;
const char* const kCommit = TRANSFORMER_COMMIT;

}  // namespace transformer
