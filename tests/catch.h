#pragma once

// LibTorch's logging has a CHECK of its own; Catch's wins in tests.
#undef CHECK
#ifdef TRANSFORMER_CATCH3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#define Contains ContainsSubstring  // version 2's name for it is another matcher in version 3
#else
#include <catch2/catch.hpp>
#endif
