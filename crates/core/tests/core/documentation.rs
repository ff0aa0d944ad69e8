//! The pages of `docs/` are true: their examples run, and their tables leave nothing out and hold nothing else.
//! Prose is not checked: what can be checked is said in a table or an example.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod definitions;
mod expressions;
mod histories;
mod logs;
mod map;
mod page;
mod source;
mod tree;
mod words;

use std::collections::BTreeSet;

const DEFINITIONS: &str = include_str!("../../../../docs/reference/definitions.md");
const EXPRESSIONS: &str = include_str!("../../../../docs/reference/expressions.md");
const HISTORIES: &str = include_str!("../../../../docs/reference/histories.md");
const STEPS_OR_CODE: &str = include_str!("../../../../docs/concepts/steps-or-code.md");

type Names = BTreeSet<String>;
