// Values, encodings and compatibility of the three kinds of distribution.
#include "samplers/distribution.hpp"
