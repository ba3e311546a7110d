# Makes a doctest file of a Markdown page: each ```cpp block is the body of a test case, named by its line and heading.
# A compiler's error, and a failure, name the page's line. TORCH_CHECK() in a block is a check.
# usage: awk -f snippets.awk PAGE.md >page_test.cpp
BEGIN {
  print "#include <torch/torch.h>\n\n#include <sstream>\n\n#include \"common/testing/test.h\"\n"
}
{ sub(/\r$/, "") }
/^## / { heading = substr($0, 4) }
!inside && /^ *(```|~~~)/ && !/^```(cpp|python|text)?$/ {
  print FILENAME ":" NR ": expected a block that begins with ```cpp, ```python or ```text, not indented" >"/dev/stderr"
  failed = 1
  exit 1
}
!inside && /^```/ {
  inside = 1
  is_cpp = $0 == "```cpp"
  if (is_cpp) {
    ++num_blocks
    gsub(/["\\]/, "", heading)
    printf "TEST_CASE(\"%s, line %d\") {\n#line %d \"%s\"\n", heading, NR, NR + 1, FILENAME
  }
  next
}
inside && /^```/ {
  if (is_cpp) print "}\n"
  inside = 0
  next
}
inside && is_cpp { print }
END {
  if (failed) exit 1
  if (inside) { print FILENAME ": a block has no end" >"/dev/stderr"; exit 1 }
  if (!num_blocks) { print FILENAME ": no ```cpp block" >"/dev/stderr"; exit 1 }
}
