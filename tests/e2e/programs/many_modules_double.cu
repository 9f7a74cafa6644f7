#include "many_modules.h"

int count_wrong_double() {
  return sort_and_count_wrong<double>();
}
