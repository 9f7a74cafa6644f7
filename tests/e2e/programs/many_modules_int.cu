#include "many_modules.h"

int count_wrong_int() {
  return sort_and_count_wrong<int>();
}
