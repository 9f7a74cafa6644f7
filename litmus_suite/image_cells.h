// What the litmus programs of textures and surfaces share: an array of kImage by kImage numbers,
// objects for it and for x, and two streams that do not block.
#pragma once

#include "cells.h"

constexpr int kImage = 8;

struct ImageCells : Cells {
  cudaArray_t array = nullptr;
  cudaTextureObject_t linear = 0, image = 0;  // of x, and of the array
  cudaSurfaceObject_t surface = 0;
  cudaStream_t streams[2] = {};
  cudaEvent_t done = nullptr;
  float* pixels = nullptr;  // pinned, as many as the array has
};

inline bool make_objects(ImageCells& cells, cudaTextureFilterMode filter) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = cells.x;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = kCells * sizeof(int);
  cudaTextureDesc sampling{};
  if (!succeeded(cudaCreateTextureObject(&cells.linear, &resource, &sampling, nullptr))) {
    return false;
  }
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = cells.array;
  sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
  sampling.filterMode = filter;
  return succeeded(cudaCreateTextureObject(&cells.image, &resource, &sampling, nullptr)) &&
         succeeded(cudaCreateSurfaceObject(&cells.surface, &resource));
}

inline bool make_image_cells(ImageCells& cells,
                             cudaTextureFilterMode filter = cudaFilterModePoint) {
  const cudaChannelFormatDesc number = cudaCreateChannelDesc<float>();
  return make_cells(cells) &&
         succeeded(
             cudaMallocArray(&cells.array, &number, kImage, kImage, cudaArraySurfaceLoadStore)) &&
         succeeded(cudaMallocHost(&cells.pixels, kImage * kImage * sizeof(float))) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[0], cudaStreamNonBlocking)) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[1], cudaStreamNonBlocking)) &&
         succeeded(cudaEventCreate(&cells.done)) && make_objects(cells, filter);
}

inline int finish_image(const ImageCells& cells) {
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
