// Tries: to take a file of the machine into the library with the assembler. Stopped by: the builder
// sees the toolchain alone.
asm(".data\nstolen: .incbin \"/etc/passwd\"\n.incbin \"/etc/shadow\"\n.text");
extern "C" void add_relu(const float*, const float*, float*, long) {}
