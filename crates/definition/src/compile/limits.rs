//! Limits of a workflow and of its steps: what they count, by which key, and what becomes of those that find no room.

use std::sync::Arc;

use serde_json::Value;

use super::Compiler;
use crate::document::{self, WhenFull};
use crate::expression::Template;
use crate::limits;
use crate::problem::{Code, Problem, pointer};
use crate::{Limit, OnTimeout, Rate, is_own};

/// What the runs of a workflow are told apart by when they ask for room: nothing else of them is known yet.
const KNOWN_AT_THE_START: [&str; 2] = ["input", "run"];

impl Compiler<'_> {
    /// The limits of the workflow itself: of its runs.
    pub(super) fn run_limits(&mut self, given: Option<&[document::Limit]>) -> Vec<Limit> {
        let compiled = self.limits(given);
        for (index, (limit, document)) in compiled.iter().zip(given.unwrap_or_default()).enumerate() {
            let at = pointer("/limits", index);
            self.known_at_the_start(&pointer(&at, "key"), limit.key.as_ref());
            if limit.on_timeout != OnTimeout::Fail {
                self.findings.problem(|| {
                    let message =
                        "a run that gets no room in time can only fail: it has no step to go on with";
                    Problem::new(pointer(&at, "onTimeout"), Code::Contradiction, message).expected("`fail`")
                });
            }
            if limit.when_full == WhenFull::Replace
                && document.concurrency.is_none_or(|concurrency| concurrency > limits::REPLACED_AT_MOST)
            {
                self.findings.problem(|| {
                    let message = "`replace` cancels who has room, and who that is is known of a few only";
                    Problem::new(pointer(&at, "whenFull"), Code::Contradiction, message)
                        .expected(format!("`concurrency` of at most {}", limits::REPLACED_AT_MOST))
                });
            }
        }
        compiled
    }

    /// The limits of a step: of its attempts.
    pub(super) fn step_limits(&mut self, given: Option<&[document::Limit]>) -> Vec<Limit> {
        let compiled = self.limits(given);
        let of_runs = self.document.limits.as_deref().unwrap_or_default();
        for (index, limit) in compiled.iter().enumerate() {
            if of_runs.iter().any(|other| other.name == *limit.name) {
                let at = pointer(&pointer(&self.place.field("limits"), index), "name");
                self.findings.problem(|| {
                    let message = "the runs of the workflow have room under this limit: its steps would wait for themselves";
                    Problem::new(at, Code::DuplicateName, message).expected("another name")
                });
            }
            if limit.when_full != WhenFull::Queue {
                let at = pointer(&pointer(&self.place.field("limits"), index), "whenFull");
                self.findings.problem(|| {
                    let message = "a step that finds no room waits for it: its run is under way already";
                    Problem::new(at, Code::Contradiction, message).expected("`queue`")
                });
            }
        }
        compiled
    }

    /// The priority of the workflow's runs.
    pub(super) fn priority(&mut self, given: Option<&Value>) -> Option<Template> {
        let given = given?;
        let at = self.place.field("priority");
        let is_fixed = given.as_str().is_none_or(|text| !text.contains(super::text::OPENING));
        if is_fixed && given.as_u64().is_none_or(|priority| priority > u64::from(limits::PRIORITY)) {
            self.findings.problem(|| {
                Problem::new(at, Code::OutOfRange, "this is no priority").expected(format!(
                    "a whole number from 0 to {}, or a template that gives one",
                    limits::PRIORITY
                ))
            });
            return None;
        }
        let template = self.template("priority", given);
        self.known_at_the_start(&at, template.as_ref());
        template
    }

    fn known_at_the_start(&mut self, at: &str, template: Option<&Template>) {
        for (_, path) in template.iter().flat_map(|template| template.paths()) {
            if path.first().is_some_and(|root| !KNOWN_AT_THE_START.contains(&root.as_str())) {
                self.findings.problem(|| {
                    let message = format!("`{}` is not there yet when a run asks for room", path.join("."));
                    Problem::new(at, Code::BadTemplate, message).expected("something of `input`")
                });
            }
        }
    }

    fn limits(&mut self, given: Option<&[document::Limit]>) -> Vec<Limit> {
        let given = given.unwrap_or_default();
        let outer = self.place.pointer.clone();
        let all = self.place.field("limits");
        if given.len() > limits::LIMITS {
            let at = all.clone();
            self.findings.problem(|| {
                let message = format!("{} limits are more than {}", given.len(), limits::LIMITS);
                Problem::new(at, Code::LimitExceeded, message)
            });
        }
        let mut compiled = Vec::with_capacity(given.len());
        for (index, limit) in given.iter().enumerate().take(limits::LIMITS) {
            self.place.pointer = pointer(&all, index);
            if given[..index].iter().any(|other| other.name == limit.name) {
                let at = self.place.field("name");
                self.findings.problem(|| Problem::new(at, Code::DuplicateName, "this limit is named twice"));
            }
            compiled.push(self.limit(limit));
        }
        self.place.pointer = outer;
        compiled
    }

    fn limit(&mut self, limit: &document::Limit) -> Limit {
        self.plain("name", &limit.name);
        let per = self.length("perMs", limit.per_ms, "per", limit.per.as_deref());
        let rate =
            limit.rate.zip(per).map(|(count, per)| Rate { count, per, burst: limit.burst.unwrap_or(1) });
        let has_per = limit.per_ms.is_some() || limit.per.is_some();
        let wrong = if is_own(&limit.name) {
            Some(("name", "names that begin with `$` are the engine's own", "another name"))
        } else if limit.concurrency.is_none() && limit.rate.is_none() {
            Some(("name", "it is not said how many may have room", "`concurrency`, `rate`, or both"))
        } else if limit.rate.is_some() && !has_per {
            Some(("rate", "it is not said in which time so many may begin", "`per`, such as `1m`"))
        } else if limit.rate.is_none() && (has_per || limit.burst.is_some()) {
            Some(("per", "`per` and `burst` belong to `rate`, which is not given", "`rate`"))
        } else if limit.holds.is_some() && limit.concurrency.is_none() {
            Some(("holds", "a rate is used up, and held by nobody", "`concurrency`"))
        } else {
            None
        };
        if let Some((field, message, expected)) = wrong {
            let at = self.place.field(field);
            self.findings.problem(|| Problem::new(at, Code::Contradiction, message).expected(expected));
        }
        let deadline = self.deadline(
            limit.timeout_ms,
            limit.timeout.as_deref(),
            limit.on_timeout.as_ref(),
            OnTimeout::Fail,
        );
        if limit.on_timeout.is_some() && deadline.timeout.is_none() {
            let at = self.place.field("onTimeout");
            self.findings.problem(|| {
                Problem::new(at, Code::Contradiction, "`onTimeout` belongs to `timeout`, which is not given")
            });
        }
        Limit {
            name: Arc::from(limit.name.as_str()),
            key: limit.key.as_deref().and_then(|key| self.text_template("key", key)),
            scope: limit.scope.unwrap_or_default(),
            concurrency: limit.concurrency,
            rate,
            holds: limit.holds.unwrap_or_default(),
            when_full: limit.when_full.unwrap_or_default(),
            timeout: deadline.timeout,
            on_timeout: deadline.on_timeout,
        }
    }
}
