# LibTorch 2.13: from Torch_DIR or LIBTORCH, else a `torch` of the Python that is active or in .venv.
# Gives torch::torch.
if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
  set(Torch_DIR $ENV{Torch_DIR})
endif()
if(NOT Torch_DIR AND DEFINED ENV{LIBTORCH})
  set(Torch_DIR $ENV{LIBTORCH}/share/cmake/Torch)
endif()
if(NOT Torch_DIR)
  foreach(python python3 ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    execute_process(
      COMMAND
        ${python} -c
        "import importlib.metadata as m; torch = m.distribution('torch'); \
assert tuple(map(int, torch.version.split('+')[0].split('.')[:2])) >= (2, 13); \
print(torch.locate_file('torch'))"
      OUTPUT_VARIABLE torch_package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(Torch_DIR ${torch_package}/share/cmake/Torch)
      break()
    endif()
  endforeach()
endif()

add_library(torch::torch INTERFACE IMPORTED)
get_filename_component(torch_root "${Torch_DIR}/../../.." ABSOLUTE)
if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
  # LibTorch's own package file asks for the CUDA toolkit, which is only needed to compile kernels for
  # CUDA. What is used here needs the libraries alone.
  file(STRINGS ${torch_root}/include/torch/headeronly/version.h torch_version_lines
       REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" torch_version "${torch_version_lines}")
  list(JOIN torch_version "." Torch_VERSION)
  if(Torch_VERSION VERSION_GREATER_EQUAL 2.13)
    set(Torch_FOUND TRUE)
    set(lib ${torch_root}/lib)
    target_link_libraries(
      torch::torch
      INTERFACE -Wl,--no-as-needed ${lib}/libtorch.so ${lib}/libtorch_cuda.so -Wl,--as-needed
                ${lib}/libtorch_cpu.so ${lib}/libc10.so ${lib}/libc10_cuda.so)
    target_include_directories(
      torch::torch SYSTEM INTERFACE ${torch_root}/include
                                    ${torch_root}/include/torch/csrc/api/include)
    set(torch_kind ", for CUDA")
  endif()
else()
  find_package(Torch 2.13 QUIET HINTS ${Torch_DIR})
  if(Torch_FOUND)
    target_link_libraries(torch::torch INTERFACE ${TORCH_LIBRARIES})
    separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
    target_compile_options(torch::torch INTERFACE ${torch_flags})
    target_include_directories(torch::torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  endif()
endif()
if(NOT Torch_FOUND)
  message(
    FATAL_ERROR
      "LibTorch 2.13 or newer was not found. Run tools/setup.sh, which installs it into .venv, or name "
      "one: LIBTORCH=<its folder> or cmake --preset release -DTorch_DIR=<its folder>/share/cmake/Torch")
endif()
message(STATUS "LibTorch ${Torch_VERSION}${torch_kind} in ${Torch_DIR}")
