//! abide as a library.
