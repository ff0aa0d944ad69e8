//! Runs in a SQLite file.
