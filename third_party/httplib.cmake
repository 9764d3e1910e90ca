# HTTP for `transformer serve`. Gives httplib::httplib. Debian and Ubuntu divide it into a header and a
# library, and the header must be compiled as the library was: pkg-config says how. Versions whose
# Server and Stream have other virtual functions than tools/serve/http_server.cpp knows aren't taken.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(HTTPLIB QUIET IMPORTED_TARGET "cpp-httplib>=0.11.4" "cpp-httplib<0.18")
endif()
if(HTTPLIB_FOUND AND NOT FETCHCONTENT_SOURCE_DIR_HTTPLIB)
  add_library(httplib::httplib ALIAS PkgConfig::HTTPLIB)
else()
  include(FetchContent)
  set(HTTPLIB_USE_OPENSSL_IF_AVAILABLE OFF)
  set(HTTPLIB_USE_ZLIB_IF_AVAILABLE OFF)
  set(HTTPLIB_USE_BROTLI_IF_AVAILABLE OFF)
  FetchContent_Declare(
    httplib
    GIT_REPOSITORY https://github.com/yhirose/cpp-httplib.git
    GIT_TAG v0.11.4)
  FetchContent_MakeAvailable(httplib)
endif()
