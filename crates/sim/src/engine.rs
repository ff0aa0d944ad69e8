//! Whole engines on one simulated store, in virtual time.

mod defect;
pub mod store;

pub use defect::Defect;
