//! One commit of one run, encoded.
