# Version 2 (Debian) and version 3 (upstream) both do; tests include "tests/catch.h", which knows which.
find_package(Catch2 QUIET)
if(NOT Catch2_FOUND)
  include(FetchContent)
  FetchContent_Declare(
    Catch2
    GIT_REPOSITORY https://github.com/catchorg/Catch2.git
    GIT_TAG v3.5.4)
  FetchContent_MakeAvailable(Catch2)
  set(Catch2_VERSION 3.5.4)
endif()
