//! Whole engines on one simulated store, in virtual time.

pub mod store;
