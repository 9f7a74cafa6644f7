#include "many_modules.h"

int count_wrong_float() {
  return sort_and_count_wrong<float>();
}
