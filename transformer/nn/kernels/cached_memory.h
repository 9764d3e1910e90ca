#pragma once

namespace transformer {

// From now on, memory of CPU tensors that is freed is kept for the next tensor of like size, as
// LibTorch does on GPUs. The C library gives large blocks back to the system, which hands them out
// again page by page, each cleared: with batch after batch of hundreds of megabytes that is a fifth
// of a training step. For the whole process; to be called before the first tensor is made. Does
// nothing where TRANSFORMER_CACHED_MEMORY=0, and under a sanitizer, which wants to see every block
// end.
void use_cached_memory();

}  // namespace transformer
