//! What is wrong with the structure of a workflow, told when it is built: names, targets, order, bounds. The server checks all of
//! this and more (expressions, templates, schemas); `sdk/conformance/checks.json` holds both to the same answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

const END: &str = "end";
const RESERVED: [&str; 8] = ["input", "state", "steps", "run", "event", "item", "index", "secret"];
const STEPS: usize = 1000;
const STEP_NAME: usize = 100;
const GROUPS: [&str; 3] = ["wait_any", "wait_all", "wait_some"];
const GROUP_WAITS: usize = 100;
const TIMES: [&str; 4] = ["durationMs", "duration", "untilTimestamp", "cron"];
/// Lengths of time by field, with the least that makes sense in milliseconds.
const LEAST_MS: [(&str, f64); 4] =
    [("duration", 0.0), ("timeout", 1.0), ("heartbeat", 1.0), ("lookback", 0.0)];
const RETRY: [(&str, f64, f64); 4] = [
    ("maxAttempts", 1.0, 20.0),
    ("backoffMs", 100.0, f64::INFINITY),
    ("maxBackoffMs", 100.0, f64::INFINITY),
    ("backoffMultiplier", 1.0, 10.0),
];

/// One thing that is wrong with a workflow, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkflowProblem {
    /// A JSON pointer into the document.
    pub pointer: String,
    /// The server's word for it, such as `UNKNOWN_STEP`.
    pub code: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl fmt::Display for WorkflowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.pointer, self.message, self.code)
    }
}

/// A workflow that the server would refuse, with all that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidWorkflow {
    /// What the workflow is called.
    pub name: String,
    /// All that is wrong, in the order of the document.
    pub problems: Vec<WorkflowProblem>,
}

impl fmt::Display for InvalidWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the workflow `{}` is not valid", self.name)?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for InvalidWorkflow {}

/// Everything that is wrong with the structure of a document, in its order.
pub(crate) fn problems(document: &Value) -> Vec<WorkflowProblem> {
    let steps = document["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut check = Check::new(steps);
    if steps.is_empty() {
        check.tell("/steps".to_owned(), "OUT_OF_RANGE", "a workflow has at least one step");
    }
    if steps.len() > STEPS {
        let message = format!("{} steps are more than the limit of {STEPS}", steps.len());
        check.tell("/steps".to_owned(), "LIMIT_EXCEEDED", message);
    }
    check.retry("/defaultRetry", &document["defaultRetry"]);
    check.length("", document, "timeout", 1.0);
    for hook in ["onFailure", "onCancel"] {
        check.retry(&format!("/{hook}/retry"), &document[hook]["retry"]);
        check.length(&format!("/{hook}"), &document[hook], "timeout", 1.0);
    }
    for on in ["startOn", "cancelOn", "restartOn"] {
        for (index, event) in document[on].as_array().into_iter().flatten().enumerate() {
            if event["eventId"].as_str().is_some_and(|id| id.contains("{{")) {
                let message = "there are no templates here: this text is taken as it stands";
                check.tell(format!("/{on}/{index}/eventId"), "BAD_TEMPLATE", message);
            }
        }
    }
    for (at, step) in steps.iter().enumerate() {
        let place = format!("/steps/{at}");
        check.name(at, step["name"].as_str().unwrap_or_default());
        check.links(at, step);
        check.retry(&format!("{place}/retry"), &step["retry"]);
        for (field, least) in LEAST_MS {
            check.length(&place, step, field, least);
        }
        if matches!(step["type"].as_str(), Some("wait" | "sleep")) {
            check.times(&place, step);
        }
        check.several(at, &place, step);
    }
    check.cycles();
    check.found.sort();
    check.found
}

struct Check<'d> {
    names: Vec<&'d str>,
    index: BTreeMap<&'d str, usize>,
    is_graph: bool,
    after: Vec<Vec<usize>>,
    found: Vec<WorkflowProblem>,
}

/// The names under a field that holds a list of them.
fn names<'d>(step: &'d Value, field: &str) -> Vec<&'d str> {
    step[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A name as a segment of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl<'d> Check<'d> {
    fn new(steps: &'d [Value]) -> Check<'d> {
        let named: Vec<&str> = steps.iter().map(|step| step["name"].as_str().unwrap_or_default()).collect();
        let mut index = BTreeMap::new();
        for (at, name) in named.iter().enumerate() {
            index.entry(*name).or_insert(at);
        }
        let after = steps.iter().enumerate().map(|(at, step)| {
            let mut before: Vec<usize> = Vec::new();
            for step in names(step, "after").into_iter().filter_map(|name| index.get(name).copied()) {
                if step != at && !before.contains(&step) {
                    before.push(step);
                }
            }
            before
        });
        let after = after.collect();
        let is_graph = steps.iter().any(|step| step["after"].is_array());
        Check { names: named, index, is_graph, after, found: Vec::new() }
    }

    fn tell(&mut self, pointer: String, code: &'static str, message: impl Into<String>) {
        self.found.push(WorkflowProblem { pointer, code, message: message.into() });
    }

    fn name(&mut self, at: usize, name: &str) {
        let place = format!("/steps/{at}/name");
        let first = self.index.get(name).copied().unwrap_or(at);
        if first != at {
            let message = format!("the step {first} has the name `{name}` too");
            self.tell(place.clone(), "DUPLICATE_NAME", message);
        }
        if name == END {
            self.tell(place, "RESERVED_NAME", "`end` as a target ends the run; a step cannot have this name");
        } else if RESERVED.contains(&name) {
            self.tell(place, "RESERVED_NAME", format!("`{name}` has a meaning of its own in expressions"));
        } else if !(1..=STEP_NAME).contains(&name.chars().count()) {
            self.tell(place, "OUT_OF_RANGE", format!("a name has 1 to {STEP_NAME} characters"));
        } else if name.trim() != name || name.chars().any(|c| "[]".contains(c) || c.is_control()) {
            let message = "a name has no brackets, no control characters, and no white space around it";
            self.tell(place, "OUT_OF_RANGE", message);
        }
    }

    fn links(&mut self, at: usize, step: &Value) {
        let after = names(step, "after");
        for (entry, name) in after.iter().enumerate() {
            let place = format!("/steps/{at}/after/{entry}");
            match self.index.get(name) {
                None => self.tell(place, "UNKNOWN_STEP", format!("there is no step `{name}`")),
                Some(own) if *own == at => {
                    self.tell(place, "CYCLE", format!("the step `{name}` cannot be after itself"));
                }
                Some(_) if after[..entry].contains(name) => {
                    self.tell(place, "DUPLICATE_NAME", format!("`{name}` is named twice"));
                }
                Some(_) => {}
            }
        }
        match step["next"].as_str() {
            Some(_) if self.is_graph => {
                let message = "in a graph, a step does not say what comes next";
                self.tell(format!("/steps/{at}/next"), "CONTRADICTION", message);
            }
            Some(name) => self.target(at, format!("/steps/{at}/next"), name),
            None => {}
        }
        for field in ["trueStep", "falseStep"] {
            if let Some(name) = step[field].as_str() {
                self.target(at, format!("/steps/{at}/{field}"), name);
            }
        }
        for field in ["onTimeout", "onReject"] {
            if let Some(name) = step[field]["goto"].as_str() {
                self.target(at, format!("/steps/{at}/{field}/goto"), name);
            }
        }
    }

    /// A step that waits for several things.
    fn several(&mut self, at: usize, place: &str, step: &Value) {
        if !GROUPS.contains(&step["type"].as_str().unwrap_or_default()) {
            return;
        }
        if !step["onTimeout"].is_null() && step["timeout"].is_null() && step["timeoutMs"].is_null() {
            let message = "the time is never over: there is no `timeout`";
            self.tell(format!("{place}/onTimeout"), "CONTRADICTION", message);
        }
        for (wait, to) in step["goto"].as_object().into_iter().flatten() {
            let place = format!("{place}/goto/{}", escaped(wait));
            if step["waits"].get(wait).is_none() {
                self.tell(place.clone(), "UNKNOWN_VALUE", format!("there is no wait `{wait}` in this step"));
            }
            self.target(at, place, to.as_str().unwrap_or_default());
        }
        let count = self.waits(place, step, 1);
        if count > GROUP_WAITS {
            let message = format!("{count} waits are more than the limit of {GROUP_WAITS}");
            self.tell(format!("{place}/waits"), "LIMIT_EXCEEDED", message);
        }
    }

    /// The waits of a group; gives how many there are, those of groups inside too.
    fn waits(&mut self, place: &str, group: &Value, depth: usize) -> usize {
        let Some(waits) = group["waits"].as_object() else { return 0 };
        if waits.is_empty() {
            self.tell(format!("{place}/waits"), "OUT_OF_RANGE", "there is nothing to wait for");
        }
        if let Some(count) =
            group["count"].as_u64().filter(|count| *count > waits.len() as u64 || *count == 0)
        {
            let message = format!("{count} of {} cannot come", waits.len());
            if !waits.is_empty() || count == 0 {
                self.tell(format!("{place}/count"), "OUT_OF_RANGE", message);
            }
        }
        let mut all = 0;
        for (name, wait) in waits {
            let place = format!("{place}/waits/{}", escaped(name));
            let is_right = (1..=STEP_NAME).contains(&name.chars().count())
                && !name.starts_with('$')
                && name.trim() == name
                && !name.chars().any(|c| c == '.' || c.is_control());
            if !is_right {
                let message = format!("a name has 1 to {STEP_NAME} characters, without a dot");
                self.tell(place.clone(), "OUT_OF_RANGE", message);
            }
            for field in ["duration", "lookback"] {
                self.length(&place, wait, field, 0.0);
            }
            match wait["type"].as_str() {
                Some("wait" | "sleep") => self.times(&place, wait),
                Some(kind) if GROUPS.contains(&kind) && depth > 1 => {
                    let message = "waits inside waits inside waits are one too deep";
                    self.tell(place, "LIMIT_EXCEEDED", message);
                    continue;
                }
                Some(kind) if GROUPS.contains(&kind) => {
                    all += self.waits(&place, wait, depth + 1);
                    continue;
                }
                Some(_) | None => {}
            }
            all += 1;
        }
        all
    }

    fn target(&mut self, at: usize, place: String, name: &str) {
        if name == END {
            return;
        }
        match self.index.get(name).copied() {
            None => self.tell(place, "UNKNOWN_STEP", format!("there is no step `{name}`")),
            Some(to) if self.is_graph && !self.after[to].contains(&at) => {
                self.tell(place, "BACKWARD_JUMP", format!("the target `{name}` must be after this step"));
            }
            Some(to) if !self.is_graph && to <= at => {
                self.tell(place, "BACKWARD_JUMP", format!("the step `{name}` is not further down"));
            }
            Some(_) => {}
        }
    }

    /// Each cycle once: what is left when the steps that can run are taken away, again and again, and walked back.
    fn cycles(&mut self) {
        let mut stuck: BTreeSet<usize> = (0..self.after.len()).collect();
        loop {
            let waits = |at: &usize| self.after[*at].iter().any(|before| stuck.contains(before));
            let ready: Vec<usize> = stuck.iter().copied().filter(|at| !waits(at)).collect();
            if ready.is_empty() {
                break;
            }
            for at in ready {
                stuck.remove(&at);
            }
        }
        let mut walked = BTreeSet::new();
        for start in &stuck {
            let (mut path, mut at) = (Vec::new(), *start);
            while walked.insert(at) {
                path.push(at);
                at = *self.after[at].iter().find(|before| stuck.contains(before)).unwrap_or(&at);
            }
            if let Some(begins) = path.iter().position(|step| *step == at) {
                let cycle = &path[begins..];
                let names: Vec<String> =
                    cycle.iter().rev().map(|step| format!("`{}`", self.names[*step])).collect();
                let first = cycle.iter().min().copied().unwrap_or(at);
                let message = format!("these steps wait for each other: {}", names.join(" → "));
                self.tell(format!("/steps/{first}/after"), "CYCLE", message);
            }
        }
    }

    fn times(&mut self, place: &str, step: &Value) {
        let given: Vec<&str> = TIMES.into_iter().filter(|field| !step[*field].is_null()).collect();
        if given.len() != 1 {
            let message = match given.as_slice() {
                [] => "it is not said how long to wait".to_owned(),
                given => format!("{} exclude each other", given.join(" and ")),
            };
            self.tell(place.to_owned(), "CONTRADICTION", message);
        }
        if !step["timezone"].is_null() && step["cron"].is_null() {
            let message = "`timezone` belongs to `cron`, which is not given";
            self.tell(format!("{place}/timezone"), "CONTRADICTION", message);
        }
    }

    fn length(&mut self, place: &str, owner: &Value, field: &str, least: f64) {
        let in_ms = format!("{field}Ms");
        let Some(value) = owner[in_ms.as_str()].as_f64() else { return };
        if !owner[field].is_null() && field != "duration" {
            let message = format!("`{in_ms}` and `{field}` are both given");
            self.tell(format!("{place}/{field}"), "CONTRADICTION", message);
        }
        if value.fract() != 0.0 {
            let message = format!("{value} is not a whole number of milliseconds");
            self.tell(format!("{place}/{in_ms}"), "WRONG_TYPE", message);
        } else if value < least {
            self.tell(format!("{place}/{in_ms}"), "OUT_OF_RANGE", format!("{value} is less than {least}"));
        }
    }

    fn retry(&mut self, place: &str, retry: &Value) {
        for (field, least, most) in RETRY {
            let Some(value) = retry[field].as_f64().filter(|value| *value < least || *value > most) else {
                continue;
            };
            let bounds = if most.is_finite() {
                format!("from {least} to {most}")
            } else {
                format!("at least {least}")
            };
            self.tell(format!("{place}/{field}"), "OUT_OF_RANGE", format!("{value} is not {bounds}"));
        }
        let (first, longest) = (retry["backoffMs"].as_f64(), retry["maxBackoffMs"].as_f64());
        if let (Some(first), Some(longest)) = (first, longest)
            && longest < first
        {
            let message = format!("`maxBackoffMs` is less than `backoffMs`, which is {first}");
            self.tell(format!("{place}/maxBackoffMs"), "CONTRADICTION", message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E25: `build()` never gave an error, deploy did.
    #[test]
    fn a_builder_tells_what_the_server_s_check_would() {
        let cases: Value =
            serde_json::from_str(include_str!("../../conformance/checks.json")).expect("the list of cases");
        for case in cases.as_array().expect("a list") {
            let found = problems(&case["workflow"]);
            let mut told: Vec<(String, String)> =
                found.into_iter().map(|problem| (problem.pointer, problem.code.to_owned())).collect();
            let wanted: Vec<(String, String)> =
                serde_json::from_value(case["problems"].clone()).expect("pointers and codes");
            told.sort();
            assert_eq!(told, wanted, "{}", case["name"]);
        }
    }
}
