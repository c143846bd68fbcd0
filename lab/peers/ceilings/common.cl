// Nothing: the kernels beside this file need no pictures.
