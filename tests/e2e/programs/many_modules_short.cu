#include "many_modules.h"

int count_wrong_short() {
  return sort_and_count_wrong<short>();
}
