# Data parallel training is PyTorch's own engine, c10d, which LibTorch has, Gloo within; it lacks Gloo's
# headers (Debian: libgloo-dev). Gives C10D_DEFINITIONS and C10D_INCLUDES for the files that see c10d; both
# are empty where the headers are missing, and the program then says that it cannot train data parallel.
set(C10D_DEFINITIONS)
set(C10D_INCLUDES)
find_path(GLOO_INCLUDE gloo/rendezvous/store.h)
if(GLOO_INCLUDE AND EXISTS ${torch_root}/include/torch/csrc/distributed/c10d/ProcessGroupGloo.hpp)
  set(C10D_DEFINITIONS TRANSFORMER_C10D USE_C10D_GLOO)
  if(NOT GLOO_INCLUDE STREQUAL "/usr/include")
    set(C10D_INCLUDES ${GLOO_INCLUDE})
  endif()
  set(c10d_kind "Gloo")

  # NCCL's part of c10d also needs CUDA's and NCCL's headers: pip has them beside torch, and a CUDA toolkit.
  if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
    file(GLOB nvidia_includes ${torch_root}/../nvidia/*/include)
    if(EXISTS /usr/local/cuda/include)
      list(APPEND nvidia_includes /usr/local/cuda/include)
    endif()
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${torch_root}/include ${torch_root}/include/torch/csrc/api/include
                                ${nvidia_includes})
    set(CMAKE_REQUIRED_DEFINITIONS -DUSE_C10D_NCCL)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>"
                              TRANSFORMER_HAS_NCCL)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_DEFINITIONS)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    if(TRANSFORMER_HAS_NCCL)
      list(APPEND C10D_DEFINITIONS USE_C10D_NCCL)
      list(APPEND C10D_INCLUDES ${nvidia_includes})
      set(c10d_kind "Gloo and NCCL")
    endif()
  endif()
  message(STATUS "Data parallel training: ${c10d_kind}")
else()
  message(STATUS "Data parallel training: off, for want of Gloo's headers (Debian: libgloo-dev)")
endif()
