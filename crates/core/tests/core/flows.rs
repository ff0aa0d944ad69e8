//! How runs go: order and data, maps, children, journals, approvals, failures and retries, and the examples walked
//! from start to end in virtual time.

mod approvals;
mod calls;
mod capacity;
mod changed_code;
mod children;
mod data;
mod deadlines;
mod durable_calls;
mod examples;
mod graphs;
mod groups;
mod guards;
mod hooks;
mod http_calls;
mod journals;
mod maps;
mod moves;
mod outputs;
mod pinning;
mod retries;
mod sequences;
mod waiting_for;
