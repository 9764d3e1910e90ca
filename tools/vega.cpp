#include "tools/vega.h"

// TRANSFORMER_VEGA_SCRIPT names the file. The assembler takes it in as it is.
#ifdef TRANSFORMER_VEGA_SCRIPT
asm(".pushsection .rodata\n"
    "transformer_vega_begin:\n"
    ".incbin \"" TRANSFORMER_VEGA_SCRIPT
    "\"\n"
    "transformer_vega_end:\n"
    ".popsection\n");
extern "C" const char transformer_vega_begin[];
extern "C" const char transformer_vega_end[];
#endif

namespace transformer {

std::string_view vega_scripts() {
#ifdef TRANSFORMER_VEGA_SCRIPT
  return {transformer_vega_begin,
          static_cast<size_t>(transformer_vega_end - transformer_vega_begin)};
#else
  return {};
#endif
}

}  // namespace transformer
