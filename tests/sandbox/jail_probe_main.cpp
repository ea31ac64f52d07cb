// jail_probe as a program.
#include "sandbox_acts.hpp"

int main(int count, char** arguments) { return hone::probe(count, arguments); }
