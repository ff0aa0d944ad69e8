//! How runs go: order and data, maps, children, journals, approvals, failures and retries, and the examples walked
//! from start to end in virtual time.

#[path = "scenario/scenario.rs"]
mod scenario;

#[path = "flows/approvals.rs"]
mod approvals;
#[path = "flows/calls.rs"]
mod calls;
#[path = "flows/changed_code.rs"]
mod changed_code;
#[path = "flows/children.rs"]
mod children;
#[path = "flows/data.rs"]
mod data;
#[path = "flows/deadlines.rs"]
mod deadlines;
#[path = "flows/durable_calls.rs"]
mod durable_calls;
#[path = "flows/examples.rs"]
mod examples;
#[path = "flows/graphs.rs"]
mod graphs;
#[path = "flows/hooks.rs"]
mod hooks;
#[path = "flows/http_calls.rs"]
mod http_calls;
#[path = "flows/journals.rs"]
mod journals;
#[path = "flows/maps.rs"]
mod maps;
#[path = "flows/moves.rs"]
mod moves;
#[path = "flows/outputs.rs"]
mod outputs;
#[path = "flows/pinning.rs"]
mod pinning;
#[path = "flows/retries.rs"]
mod retries;
#[path = "flows/sequences.rs"]
mod sequences;
#[path = "flows/waiting_for.rs"]
mod waiting_for;
