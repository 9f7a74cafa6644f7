#include "many_modules.h"

int count_wrong_long() {
  return sort_and_count_wrong<long long>();
}
