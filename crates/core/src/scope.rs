//! What names mean in an expression: over a run, and over an event that may match a wait.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::expression::{SECRET, Scope, placeholder};
use crate::id::StepAddress;
use crate::json::Json;
use crate::run::Run;
use crate::waitpoint::EventFilter;

/// The names of an expression over a run: `input`, `state`, `steps`, `run`, in a map `item` and `index`, of a secret
/// its placeholder; any other name is a key of `state`.
pub(crate) struct RunScope<'a> {
    pub(crate) run: &'a Run,
    pub(crate) at: StepAddress,
}

impl Scope for RunScope<'_> {
    fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
        let run = self.run;
        match path {
            ["input", ..] => Some((Cow::Borrowed(&*run.input), 1)),
            ["state"] => Some((Cow::Owned(state(run)), 1)),
            ["state", key, ..] => run.state.get(*key).map(|value| (Cow::Borrowed(&**value), 2)),
            ["steps", name, "output", ..] => {
                let output = run.step(StepAddress::step(run.definition.index_of(name)?))?.output.as_ref()?;
                Some((Cow::Borrowed(&**output), 3))
            }
            ["steps", name, ..] => Some((Cow::Owned(about(run, run.definition.index_of(name)?)), 2)),
            ["steps"] => {
                let steps = (0..).zip(&run.definition.steps);
                let all = steps.map(|(index, step)| (step.name.to_string(), about(run, index)));
                Some((Cow::Owned(Value::Object(all.collect())), 1))
            }
            ["run", ..] => {
                let definition = &run.definition_ref;
                let about = json!({
                    "id": run.id, "createdAt": run.created_at, "name": definition.name,
                    "version": definition.version, "tags": run.tags,
                });
                Some((Cow::Owned(about), 1))
            }
            ["item", ..] => run.item(self.at).map(|item| (Cow::Borrowed(item), 1)),
            ["index", ..] => self.at.item.map(|index| (Cow::Owned(Value::from(index)), 1)),
            [SECRET, name, ..] => Some((Cow::Owned(Value::String(placeholder(name))), 2)),
            ["event" | SECRET, ..] => None,
            [key, ..] => run.state.get(*key).map(|value| (Cow::Borrowed(&**value), 1)),
            [] => None,
        }
    }
}

/// Whether the first name of a path is known: a reserved one, `event`, or a key of `state`.
pub(crate) fn is_known_name(run: &Run, name: &str) -> bool {
    matches!(name, "input" | "state" | "steps" | "run" | "item" | "index" | "event" | SECRET)
        || run.state.contains_key(name)
}

/// A step as expressions see it.
fn about(run: &Run, step: u16) -> Value {
    let at = StepAddress::step(step);
    let state = run.step(at);
    let output = state.and_then(|step| step.output.as_ref());
    let error = state.and_then(|step| step.error.as_ref());
    let mut about = json!({ "status": run.step_status(at), "output": output, "error": error });
    if let Some(event) = run.event_of(at) {
        about["event"] = json!(event);
    }
    about
}

/// The whole of `state` as one object.
pub(crate) fn state(run: &Run) -> Value {
    Value::Object(
        run.state.iter().map(|(key, value)| (key.clone(), Value::clone(value))).collect::<Map<_, _>>(),
    )
}

/// The name under which the values are bound that fields of the event must have.
const WHERE: &str = "where";

/// The names of a `match` expression: `event`, and what was bound of the run when the wait began.
struct EventScope<'a> {
    filter: &'a EventFilter,
    data: &'a Value,
}

impl Scope for EventScope<'_> {
    fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
        if let ["event", ..] = path {
            return Some((Cow::Borrowed(self.data), 1));
        }
        (1..=path.len()).rev().find_map(|used| {
            let value = self.filter.bound.get(&bound_key(&path[..used]))?;
            Some((Cow::Borrowed(&**value), used))
        })
    }
}

/// A path as it could be written in an expression; two different paths never look the same.
fn bound_key<S: AsRef<str>>(path: &[S]) -> String {
    let mut key = String::new();
    for segment in path.iter().map(AsRef::as_ref) {
        if segment.contains(['.', '"', '[']) {
            key.push_str(&format!("[{segment:?}]"));
        } else {
            key.push_str(if key.is_empty() { "" } else { "." });
            key.push_str(segment);
        }
    }
    key
}

impl EventFilter {
    /// Whether data of the awaited event id satisfies `match`. What cannot be evaluated does not match.
    pub fn accepts(&self, data: &Value) -> bool {
        self.accepts_at(data).0
    }

    /// Whether the filter accepts this data, and the cost of finding out, in bytes that were looked at.
    pub fn accepts_at(&self, data: &Value) -> (bool, usize) {
        match &self.matching {
            None => (true, 0),
            Some(matching) => {
                let (matched, cost) = matching.is_true_at(&EventScope { filter: self, data });
                (matched.unwrap_or(false), cost)
            }
        }
    }

    /// An expression that says that the field at this path of the event is the value that was given for it.
    pub(crate) fn field_is(path: &str) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let field: String = path.split('.').map(|segment| format!("[{}]", quoted(segment))).collect();
        format!("event{field} == {WHERE}[{}]", quoted(path))
    }

    /// Binds the values that fields of the event must have.
    pub(crate) fn bind_fields(&mut self, fields: BTreeMap<String, Json>) {
        self.bound.extend(fields.into_iter().map(|(path, value)| (bound_key(&[WHERE, &path]), value)));
    }

    /// Binds what `match` names of the run besides the event.
    pub(crate) fn bind(&mut self, run: &Run, at: StepAddress) {
        let scope = RunScope { run, at };
        let paths = self.matching.iter().flat_map(|matching| matching.paths());
        for path in paths.filter(|path| path.first().is_some_and(|head| head != "event")) {
            let segments: Vec<&str> = path.iter().map(String::as_str).collect();
            if let Some((value, used)) = scope.resolve(&segments) {
                let rest = &segments[used..];
                if let Some(value) = rest.iter().try_fold(&*value, |value, key| value.get(*key)) {
                    self.bound.insert(bound_key(&path), Json::new(value.clone()));
                }
            }
        }
    }
}
