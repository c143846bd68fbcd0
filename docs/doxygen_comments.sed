#!/usr/bin/sed -Ef
# Turns plain comments into those that Doxygen reads.
1s|^// |/// \\file\n/// |
s|^( *)// |\1/// |
s|([;,]) +// |\1 ///< |
\|///|s|[#@]|\\&|g
