include(FetchContent)
FetchContent_Declare(
  cxxopts
  GIT_REPOSITORY https://github.com/jarro2783/cxxopts.git
  GIT_TAG v3.1.1
  FIND_PACKAGE_ARGS 3.1)
FetchContent_MakeAvailable(cxxopts)
