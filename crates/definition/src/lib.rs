//! The definition language: what a workflow's document means, checked and compiled. Everything that can be wrong with a
//! document is found here, when it is read; a run of a [`Definition`] meets only what depends on its data. This crate
//! knows no runs: what a run of a definition does is decided by `abide-core`.
//!
//! ```text
//!   text ──read──▶ JSON ──shape──▶ document::Workflow ──compile──▶ Definition
//!                        (fields,      ▲                 (names, order, expressions,
//!                         types,       │                  templates, times, limits)
//!                         ranges)    builder
//! ```

pub mod builder;
pub mod cron;
pub mod document;
pub mod expression;
pub mod json;
pub mod limits;
pub mod problem;
pub mod retry;
pub mod time;

mod awaits;
mod blocked;
mod check;
mod compile;
mod debounce;
mod derived;
mod development;
mod findings;
mod group;
mod guard;
mod hook;
mod http_call;
mod immediate;
mod input;
mod locate;
mod read;
mod salvage;
mod schema;
mod shape;
mod start_on;
mod tool;
mod validate;
mod values;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use crate::expression::{Expression, Template};
use crate::json::Json;
use crate::retry::RetryPolicy;
use crate::time::Millis;
use document::Workflow;

pub use awaits::AwaitedEvent;
pub use blocked::blocked_pattern;
pub use check::Checked;
pub use compile::{OWN_TOOLS, is_header_name};
pub use debounce::Debounce;
pub use derived::{Derived, is_own};
pub use document::{Holds, LimitScope, OnCodeChange, WhenFull};
pub use findings::{PROBLEMS, Rejected};
pub use group::{Group, Member, Wanted};
pub use guard::{Guard, GuardAction, Restart};
pub use hook::{Hook, Hooks};
pub use http_call::{HTTP_CALL, HttpCall};
pub use immediate::StartedAtOnce;
pub use input::BadInput;
pub use locate::{Location, Locations};
pub use schema::{closed_schema, json_schema};
pub use shape::{misfits, whole_numbers};
pub use start_on::{StartOn, WantedStart};
pub use validate::{Schema, TooMuchWork};

/// The names that expressions give a meaning of their own: no step and no `saveAs` may have them. A key of `state` that
/// comes with a payload may: it is reached as `state.input`, and the bare name keeps its meaning.
pub const RESERVED_KEYS: [&str; 8] = ["input", "state", "steps", "run", "event", "item", "index", "secret"];

/// As a target it ends the run, so no step may have this name.
pub const END: &str = "end";

/// Headers of a call from outside that are kept wherever one is taken.
pub const KEPT_HEADERS: [&str; 5] =
    ["content-type", "user-agent", "webhook-id", "webhook-timestamp", "webhook-signature"];

/// Headers that let somebody in: no definition may keep them.
pub const NEVER_KEPT_HEADERS: [&str; 5] =
    ["authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"];

/// What an approver's name begins with where it means any key with a scope. Nobody is called so.
pub const BY_SCOPE: &str = "scope:";

/// A checked workflow. Immutable; runs share it.
#[derive(Debug)]
pub struct Definition {
    /// The document it was made from, as it is stored and shown.
    pub document: Workflow,
    pub steps: Vec<Step>,
    pub order: Order,
    pub timeout: Option<Millis>,
    pub output: Option<Template>,
    pub input_schema: Option<Schema>,
    /// The events that start runs.
    pub start_on: Vec<StartOn>,
    /// The events that end a run, wherever it is: those of `cancelOn`, then those of `restartOn`.
    pub guards: Vec<Guard>,
    /// How starts that come shortly after each other become one run.
    pub debounce: Option<Debounce>,
    /// Headers that the input of a run that a trigger starts keeps beside [`KEPT_HEADERS`], in small letters.
    pub keep_headers: Vec<Arc<str>>,
    /// Limits of the runs.
    pub limits: Vec<Limit>,
    /// The priority of a run that waits for room, if it is not 0.
    pub priority: Option<Template>,
    /// The workflows that call the handlers of `onFailure` and `onCancel`.
    pub hooks: Hooks,
    by_name: HashMap<Arc<str>, u16>,
}

impl Definition {
    /// The limits of its runs, and of the attempts of its steps.
    pub fn all_limits(&self) -> impl Iterator<Item = &Limit> {
        let work = self.steps.iter().filter_map(|step| {
            let action = if let Action::Map(map) = &step.action { &map.step.action } else { &step.action };
            action.work()
        });
        self.limits.iter().chain(work.flat_map(|work| &work.limits))
    }

    /// The name of the workflow.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// The version of the workflow.
    pub fn version(&self) -> &str {
        &self.document.version
    }

    /// The index of the step of this name.
    pub fn index_of(&self, step_name: &str) -> Option<u16> {
        self.by_name.get(step_name).copied()
    }

    /// The step of this index.
    pub fn step(&self, index: u16) -> &Step {
        &self.steps[usize::from(index)]
    }

    /// Whether a step is done before another begins, by the order of the workflow.
    pub fn comes_before(&self, first: u16, then: u16) -> bool {
        match self.order {
            Order::Sequence => first < then,
            Order::Graph => {
                let mut seen = BTreeSet::new();
                let mut to_see = vec![then];
                while let Some(step) = to_see.pop() {
                    let after = &self.step(step).after;
                    if after.contains(&first) {
                        return true;
                    }
                    to_see.extend(after.iter().copied().filter(|step| seen.insert(*step)));
                }
                false
            }
        }
    }
}

/// How one step leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As written, with jumps forward.
    Sequence,
    /// A step starts when all it is `after` are done.
    Graph,
}

/// A checked step.
#[derive(Debug)]
pub struct Step {
    pub name: Arc<str>,
    pub when: Option<Expression>,
    pub save_as: Option<Arc<str>>,
    pub retry: RetryPolicy,
    pub action: Action,
    /// Sequence: where it goes on after this step.
    pub next: Target,
    /// Graph: the steps this one waits for.
    pub after: Vec<u16>,
    /// Graph: the steps that wait for this one, in the order written.
    pub before: Vec<u16>,
}

/// Where a jump leads. Always further down than where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Step(u16),
    End,
}

/// What a step does.
#[derive(Debug)]
pub enum Action {
    /// Work done outside the core: by a worker's handler, or by the engine itself.
    Work(Work),
    Wait(Until),
    Condition {
        expression: Expression,
        on_true: Target,
        on_false: Option<Target>,
    },
    Signal {
        signal_type: Arc<str>,
        deadline: Deadline,
    },
    Event {
        event_id: Template,
        matching: Option<Expression>,
        lookback: Option<Millis>,
        deadline: Deadline,
    },
    Webhook {
        response: Option<Template>,
        allow_get: bool,
        /// Whoever has the link may wait for what the run says next.
        allow_sync: bool,
        /// Headers of the call that are kept beside the usual ones, in small letters.
        keep_headers: Vec<Arc<str>>,
        deadline: Deadline,
    },
    Approval(Approval),
    Respond {
        response: Template,
    },
    Child {
        definition: Arc<str>,
        version: Option<Arc<str>>,
        input: Template,
        wait: bool,
    },
    Map(Map),
    /// Several waits at once.
    Group(Box<Group>),
}

/// Where a step goes in other cases than the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    pub too_late: Option<Target>,
    pub rejected: Option<Target>,
    /// By the wait that comes first, of several: its name, and where it leads.
    pub by_first: Vec<(Arc<str>, Target)>,
}

impl Exits {
    /// Where all of them lead.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        let by_first = self.by_first.iter().map(|(_, target)| *target);
        self.too_late.into_iter().chain(self.rejected).chain(by_first)
    }
}

impl Action {
    /// What is done outside the core, if that is what the step is for.
    pub fn work(&self) -> Option<&Work> {
        if let Action::Work(work) = self { Some(work) } else { None }
    }

    /// The waits of a step that waits for several.
    pub fn group(&self) -> Option<&Group> {
        if let Action::Group(group) = self { Some(group) } else { None }
    }

    /// How long the step waits for something to come, and what happens then. An approval has outcomes of its own.
    pub fn deadline(&self) -> Option<&Deadline> {
        match self {
            Action::Signal { deadline, .. }
            | Action::Event { deadline, .. }
            | Action::Webhook { deadline, .. } => Some(deadline),
            Action::Group(group) => Some(&group.deadline),
            Action::Work(_)
            | Action::Wait(_)
            | Action::Condition { .. }
            | Action::Approval(_)
            | Action::Respond { .. }
            | Action::Child { .. }
            | Action::Map(_) => None,
        }
    }

    /// Where the step leads when it does not come to what it is for.
    pub fn exits(&self) -> Exits {
        if let Action::Approval(approval) = self {
            let too_late = match approval.on_timeout {
                OnApprovalTimeout::Goto(target) => Some(target),
                OnApprovalTimeout::Fail
                | OnApprovalTimeout::Continue
                | OnApprovalTimeout::Approve
                | OnApprovalTimeout::Reject => None,
            };
            return Exits { too_late, rejected: approval.on_reject.target(), by_first: Vec::new() };
        }
        let too_late = self.deadline().and_then(|deadline| deadline.on_timeout.target());
        let members = self.group().into_iter().flat_map(|group| &group.members);
        let by_first = members.filter_map(|member| Some((Arc::clone(&member.name), member.goto?))).collect();
        Exits { too_late, rejected: None, by_first }
    }

    /// Whether the step's output can be the run's: a condition and a reply only say what they did.
    pub fn gives_output(&self) -> bool {
        !matches!(self, Action::Condition { .. } | Action::Respond { .. })
    }

    /// Whether the step's output goes into `state` without being asked for: a signal's payload and a model's answer do.
    pub fn merges_output(&self) -> bool {
        matches!(self, Action::Signal { .. })
            || self.work().is_some_and(|work| work.executor == Executor::Llm)
    }
}

/// Work for an executor: a handler's task, or a call the engine makes.
#[derive(Debug)]
pub struct Work {
    pub executor: Executor,
    /// The handler of a task; the kind of call (`http`, `llm`, `notify`) otherwise.
    pub handler: Arc<str>,
    /// A task's settings.
    pub config: Option<Template>,
    /// A task's input (`None`: the run's input), or the whole request of a call.
    pub input: Option<Template>,
    pub timeout: Option<Millis>,
    pub heartbeat: Option<Millis>,
    pub on_code_change: OnCodeChange,
    /// Only workers of the build that took it first have it again.
    pub pin_to_build: bool,
    /// Limits of the attempts.
    pub limits: Vec<Limit>,
}

/// A limit of the runs of a workflow, or of the attempts of a step.
#[derive(Debug)]
pub struct Limit {
    pub name: Arc<str>,
    /// What tells those apart that do not share room; `None`: all share it.
    pub key: Option<Template>,
    pub scope: LimitScope,
    pub concurrency: Option<u32>,
    pub rate: Option<Rate>,
    pub holds: Holds,
    pub when_full: WhenFull,
    /// How long room is waited for.
    pub timeout: Option<Millis>,
    pub on_timeout: OnTimeout,
}

/// How many may begin in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How many may begin.
    pub count: u32,
    /// The time in which they may.
    pub per: Millis,
    /// How many may begin at once after a quiet time.
    pub burst: u32,
}

/// Who does the work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// A registered handler: in process, polled, or behind a URL.
    Handler,
    Http,
    Llm,
    Notify,
}

/// When a `wait` ends.
#[derive(Debug)]
pub enum Until {
    For(Millis),
    /// A template that gives a duration: text as in a document, or a number of milliseconds.
    ForRendered(Template),
    Instant(Timestamp),
    /// A template that gives an RFC 3339 instant, or a number of milliseconds since 1970.
    InstantRendered(Template),
    Cron(Box<crate::cron::Cron>),
}

/// How long a wait may take, and what happens then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    pub timeout: Option<Millis>,
    pub on_timeout: OnTimeout,
}

/// What happens when a wait is too late, or an approval is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    Fail,
    Continue,
    Goto(Target),
}

impl OnTimeout {
    /// Where it leads, if it leads elsewhere than to the next step.
    pub fn target(self) -> Option<Target> {
        if let OnTimeout::Goto(target) = self { Some(target) } else { None }
    }
}

/// What people are asked to decide, and by when.
#[derive(Debug)]
pub struct Approval {
    pub content_key: Arc<str>,
    /// What edited content must satisfy: a JSON Schema that compiles.
    pub content_schema: Option<Json>,
    pub prompt: Option<Template>,
    pub approvers: Vec<Arc<str>>,
    pub quorum: u32,
    pub allow_self_approval: bool,
    pub remind_after: Vec<Millis>,
    pub escalation: Option<Escalation>,
    pub timeout: Option<Millis>,
    pub on_timeout: OnApprovalTimeout,
    pub on_reject: OnTimeout,
}

/// From when on others may decide too.
#[derive(Debug)]
pub struct Escalation {
    pub after: Millis,
    pub to: Vec<Arc<str>>,
}

/// What happens when nobody has decided in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnApprovalTimeout {
    Fail,
    Continue,
    Approve,
    Reject,
    Goto(Target),
}

/// One step that is done for every item of a list.
#[derive(Debug)]
pub struct Map {
    pub items: Items,
    /// The step that is done for each item. Its name is the map step's; it has no `when`, `after` or `next`.
    pub step: Box<Step>,
    pub concurrency: u32,
    pub collect_failures: bool,
}

/// The list that a map goes over.
#[derive(Debug)]
pub enum Items {
    /// The list may hold templates.
    Template(Template),
    Expression(Expression),
}
