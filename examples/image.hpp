// Pictures of 8-bit RGB in PNG files, by libpng's simplified interface.
#pragma once

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct rgb {
  std::uint8_t r, g, b;
};

struct image {
  std::size_t width, height;
  std::vector<rgb> pixels = std::vector<rgb>(width * height);  // row by row

  rgb& at(std::size_t row, std::size_t column) { return pixels[row * width + column]; }
};

/// The sum of all its colours.
inline long checksum(image const& picture) {
  long sum = 0;
  for (rgb const p : picture.pixels) sum += p.r + p.g + p.b;
  return sum;
}

[[noreturn]] inline void fail(std::string const& path, png_image const& png) {
  std::fprintf(stderr, "%s: %s\n", path.c_str(), png.message);
  std::exit(1);
}

inline void write_png(std::string const& path, image const& picture) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(picture.width);
  png.height = static_cast<png_uint_32>(picture.height);
  png.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&png, path.c_str(), 0, picture.pixels.data(), 0, nullptr)) fail(path, png);
}

inline image read_png(std::string const& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&png, path.c_str())) fail(path, png);
  png.format = PNG_FORMAT_RGB;
  image picture{png.width, png.height};
  if (!png_image_finish_read(&png, nullptr, picture.pixels.data(), 0, nullptr)) fail(path, png);
  return picture;
}
