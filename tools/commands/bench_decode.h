#pragma once

namespace transformer {

// transformer bench decode; argv[0] is "decode". Returns the program's exit code.
int bench_decode_command(int argc, char** argv);

}  // namespace transformer
