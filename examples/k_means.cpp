// A picture in few colours: k-means on its pixels (S. Lloyd, 1982). Each worker sums up in memory of its own, without
// locks or atomics; the sums are whole numbers, so the result is the same on any number of workers.
//   example-k_means picture.png [colours [file.png]]
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filch/for_each.hpp>
#include <filch/for_index.hpp>
#include <filch/integer_sort.hpp>
#include <filch/reduce.hpp>
#include <filch/worker_local.hpp>
#include <string>

#include "image.hpp"
#include "stopwatch.hpp"

static int distance(rgb a, rgb b) {
  int const r = a.r - b.r, g = a.g - b.g, bl = a.b - b.b;
  return r * r + g * g + bl * bl;
}
static std::size_t nearest(std::vector<rgb> const& colours, rgb pixel) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < colours.size(); ++k) {
    if (distance(colours[k], pixel) < distance(colours[best], pixel)) best = k;
  }
  return best;
}

/// The pixels nearest to one colour.
struct cluster {
  long r = 0, g = 0, b = 0, count = 0;
  void add(cluster const& c) { r += c.r, g += c.g, b += c.b, count += c.count; }
};
using clusters = std::vector<cluster>;

static clusters clusters_of(image& picture, std::vector<rgb> const& colours) {
  filch::worker_local<clusters> sums([&] { return clusters(colours.size()); });
  filch::for_index(std::size_t{0}, picture.height, [&](std::size_t row) {
    clusters& mine = sums.local();
    for (std::size_t column = 0; column < picture.width; ++column) {
      rgb const p = picture.at(row, column);
      mine[nearest(colours, p)].add({p.r, p.g, p.b, 1});
    }
  });
  return sums.combine([](clusters all, clusters const& more) {
    for (std::size_t k = 0; k < all.size(); ++k) all[k].add(more[k]);
    return all;
  });
}

int main(int argc, char** argv) {
  std::size_t const k = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 64;
  std::string const file = argc > 3 ? argv[3] : "k_means.png";
  if (argc < 2 || k == 0 || k > 256) {
    std::fputs("usage: example-k_means picture.png [colours, from 1 to 256 [file.png]]\n", stderr);
    return 1;
  }
  image picture = read_png(argv[1]);

  // Begins with pixels at equal distances of those that are sorted by their brightness.
  stopwatch time;
  std::vector<rgb> sorted = picture.pixels, colours(k);
  filch::integer_sort(sorted.begin(), sorted.end(), [](rgb p) { return p.r + p.g + p.b; });
  for (std::size_t i = 0; i < k; ++i) colours[i] = sorted[(2 * i + 1) * sorted.size() / (2 * k)];
  int rounds = 0;
  for (bool has_moved = true; has_moved && rounds < 1000; ++rounds) {
    clusters const sums = clusters_of(picture, colours);
    has_moved = false;
    for (std::size_t i = 0; i < k; ++i) {
      if (sums[i].count == 0) continue;
      auto const mean = [&](long sum) {
        return static_cast<std::uint8_t>((sum + sums[i].count / 2) / sums[i].count);
      };
      rgb const middle{mean(sums[i].r), mean(sums[i].g), mean(sums[i].b)};
      has_moved |= distance(middle, colours[i]) != 0;
      colours[i] = middle;
    }
  }
  long const error =
      filch::transform_reduce(picture.pixels.begin(), picture.pixels.end(), 0L, std::plus<>(),
                              [&](rgb p) { return static_cast<long>(distance(p, colours[nearest(colours, p)])); });
  std::printf("%zu x %zu pixels, %zu colours, %d rounds in %.0f ms\n", picture.width, picture.height, k, rounds,
              time.milliseconds());

  filch::for_each(picture.pixels.begin(), picture.pixels.end(), [&](rgb& p) { p = colours[nearest(colours, p)]; });
  write_png(file, picture);
  std::printf("sum of squares %ld; the picture is in %s\n", error, file.c_str());
}
