/* The version of hone: the one place that holds it; CMake, Python and the protocol read it from here. */
#ifndef HONE_VERSION_H
#define HONE_VERSION_H

#define HONE_VERSION_STRING "0.2.0"

#endif
