//! The `debounce` of a workflow.

use serde_json::Value;

use super::text::Sees;
use super::{Compiler, Place};
use crate::debounce::Debounce;
use crate::document;
use crate::problem::{Code, Problem};
use crate::time::Millis;

/// How many times `quiet` a run waits for its last start, unless it is said.
const TIMES_QUIET: u64 = 10;

impl Compiler<'_> {
    pub(super) fn debounce(&mut self, given: Option<&document::Debounce>) -> Option<Debounce> {
        let given = given?;
        self.place = Place { pointer: "/debounce".to_owned(), ..Place::document() };
        let compiled = self.debounced(given);
        self.place = Place::document();
        compiled
    }

    fn debounced(&mut self, given: &document::Debounce) -> Option<Debounce> {
        let key = given.key.as_deref().map(Value::from);
        let key = key.map(|key| self.template_seeing("key", &key, Sees::Input));
        let quiet = self.length("quietMs", given.quiet_ms, "quiet", given.quiet.as_deref());
        let at_most = self.length("atMostMs", given.at_most_ms, "atMost", given.at_most.as_deref());
        let collect = given.collect.unwrap_or(false);
        let wrong = if given.quiet_ms.is_none() && given.quiet.is_none() {
            Some(("quiet", "it is not said for how long no start may come before the run begins", "`30s`"))
        } else if quiet.zip(at_most).is_some_and(|(quiet, at_most)| at_most < quiet) {
            Some(("atMost", "the run would always begin before the quiet time is over", "at least `quiet`"))
        } else if given.size.is_some() && !collect {
            Some(("size", "only inputs that are collected are counted", "`collect: true`"))
        } else {
            None
        };
        if let Some((field, message, expected)) = wrong {
            let at = self.place.field(field);
            self.findings.problem(|| Problem::new(at, Code::Contradiction, message).expected(expected));
        }
        let quiet = quiet?;
        let longest = self.findings.max_wait();
        let by_default = Millis(quiet.0.saturating_mul(TIMES_QUIET)).min(longest);
        let key = key.map_or(Some(None), |good| good.map(Some))?;
        Some(Debounce { key, quiet, at_most: at_most.unwrap_or(by_default), collect, size: given.size })
    }
}
