#pragma once

// LibTorch's logging has a CHECK of its own; Catch's wins in tests.
#undef CHECK
#ifdef TRANSFORMER_CATCH3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
