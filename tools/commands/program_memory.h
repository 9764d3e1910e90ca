#pragma once

namespace transformer {

// What a run holds besides its own tensors and data: libraries with the pages that a step and a
// search touch, the buffers of matrix products and threads. Found by training and searching with a
// tiny model in this process, once; called before anything large was made.
double program_memory();

}  // namespace transformer
