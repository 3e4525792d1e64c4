// Opening a database by its URL.
#include "storage/storage.hpp"
