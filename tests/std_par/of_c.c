#include "std_par/of_c.h"

int of_c(int x) {
  int class = 2 * x + 1; /* no C++ */
  return class;
}
