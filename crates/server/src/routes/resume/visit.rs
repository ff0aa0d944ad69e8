//! A visit to a resume URL: who comes, and to which wait.

use std::sync::Arc;

use abide_core::command::ResumeTarget;
use abide_core::definition::Action;
use abide_core::id::{RunId, WaitpointId};
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, ApprovalRequest, Kind, ListensFor, Waitpoint};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::App;
use crate::caller::Caller;
use crate::links::{Link, TOKEN, Target};
use crate::problem::{Code, Problem};
use crate::request::Ids;
use crate::request::call::Call;
use crate::request::path::InPath;
use crate::shape::waitpoint::WaitpointBody;

/// A wait that a step opens for itself.
const OWN_WAIT: &str = "$wait";
/// What histories call whoever has a link that is for nobody in particular.
const ANYONE: &str = "link";

pub(super) struct Visit {
    pub(super) run: RunId,
    /// The visitor: a key's, or the link's.
    pub(super) caller: Caller,
    /// The link that lets the visitor in, and all that it may do; `None` for a key.
    pub(super) link: Option<Link>,
    pub(super) target: ResumeTarget,
    pub(super) workflow: String,
    /// Of the waitpoint; `None` while the step it is for has not begun.
    pub(super) kind: Option<Kind>,
    /// What is asked, where it is an approval.
    pub(super) approval: Option<ApprovalRequest>,
    /// The wait's deadline.
    pub(super) resume_at: Option<Timestamp>,
    number: Option<u32>,
    allow_get: bool,
    /// Whoever has the link may wait for what the run says next.
    pub(super) allow_sync: bool,
    /// Headers of the call that are kept beside the usual ones.
    pub(super) keep_headers: Vec<Arc<str>>,
    /// As it was written in the path.
    segment: String,
}

impl Visit {
    pub(super) async fn open(
        app: &App,
        caller: Option<Caller>,
        Ids(run, segment): &Ids,
        call: &Call,
    ) -> Result<Visit, Problem> {
        let link = match (&caller, call.link.clone()) {
            (_, Some(link)) => Some(link?),
            (Some(_), None) => None,
            (None, None) => return Err(Problem::new(Code::BadLink, "the URL has no token")),
        };
        let found = match &caller {
            Some(caller) => app.run(caller, *run).await?,
            None => app.engine.run(*run).get().await?,
        };
        let target = resume_target(*run, segment)?;
        let number = number_of(&found, &target);
        let waitpoint = match number {
            Some(number) => found.waitpoint(number),
            None => None,
        };
        if waitpoint.is_none() && matches!(target, ResumeTarget::Waitpoint(_)) {
            return Err(Problem::new(Code::UnknownWaitpoint, format!("the run has no waitpoint {segment}")));
        }
        if let Some(link) = &link {
            check_revoked(app, &found, number, link).await?;
        }
        let recipient = link.as_ref().and_then(|link| link.recipient.as_deref());
        let caller = caller.unwrap_or_else(|| visitor(&found, recipient, call));
        let (allow_sync, keep_headers) = terms(&found, &target, waitpoint);
        Ok(Visit {
            run: *run,
            caller,
            link,
            target,
            workflow: found.definition_ref.name.to_string(),
            kind: waitpoint.map(|waitpoint| waitpoint.kind),
            approval: waitpoint.and_then(asked),
            resume_at: waitpoint.and_then(|waitpoint| found.closes_at(waitpoint.number)),
            number,
            allow_get: waitpoint.is_some_and(allows_get),
            allow_sync,
            keep_headers,
            segment: segment.clone(),
        })
    }

    pub(super) fn allows_get(&self) -> bool {
        self.allow_get
    }

    pub(super) fn waitpoint(&self) -> Result<WaitpointId, Problem> {
        let number = self.number.ok_or_else(|| {
            let detail = format!("step `{}` has no waitpoint yet", self.segment);
            Problem::new(Code::UnknownWaitpoint, detail)
        });
        number.map(|number| self.run.waitpoint(number))
    }

    /// The waitpoint as this visitor may see it.
    pub(super) async fn body(&self, app: &App) -> Result<WaitpointBody, Problem> {
        let mut body = app.waitpoint_body(&self.caller, self.waitpoint()?).await?;
        body.resume_url = None;
        Ok(if self.link.is_some() { body.for_link() } else { body })
    }

    /// A refusal as this visitor may see it: that somebody was first, not what they sent.
    pub(super) fn as_shown(&self, mut problem: Problem) -> Problem {
        if self.link.is_some()
            && let Some(outcome) = problem.outcome_mut().and_then(Value::as_object_mut)
        {
            let kept = outcome.remove("payload").filter(|_| self.kind == Some(Kind::Approval));
            if let Some(decision) = kept.and_then(|payload| payload.get("decision").cloned()) {
                outcome.insert("payload".to_owned(), json!({ "decision": decision }));
            }
        }
        problem
    }

    /// Where the page is, for the same visitor.
    pub(super) fn page_url(&self, app: &App, call: &Call) -> String {
        let query = match call.param(TOKEN) {
            Some(token) => format!("?{TOKEN}={token}"),
            None => String::new(),
        };
        let segment: String = form_urlencoded::byte_serialize(self.segment.as_bytes()).collect();
        let segment = segment.replace('+', "%20");
        app.path_to(&format!("/workflow-runs/{}/waitpoints/{segment}/confirm{query}", self.run))
    }
}

fn asked(waitpoint: &Waitpoint) -> Option<ApprovalRequest> {
    if let ListensFor::Approval(asked) = &waitpoint.listens_for { Some(asked.clone()) } else { None }
}

fn allows_get(waitpoint: &Waitpoint) -> bool {
    matches!(waitpoint.listens_for, ListensFor::Call { allow_get: true })
}

/// What the step of a wait lets callers do, and keeps of them.
fn terms(run: &Run, target: &ResumeTarget, waitpoint: Option<&Waitpoint>) -> (bool, Vec<Arc<str>>) {
    let action = match (waitpoint, target) {
        (Some(waitpoint), _) => run.action_of(waitpoint),
        (None, ResumeTarget::Step { step, .. }) => run.find_step(step).map(|at| &run.defined(at).action),
        (None, ResumeTarget::Waitpoint(_)) => None,
    };
    if let Some(Action::Webhook { allow_sync, keep_headers, .. }) = action {
        (*allow_sync, keep_headers.clone())
    } else {
        (false, Vec::new())
    }
}

/// What a link with this path leads to.
pub(crate) fn link_target<'p>(run: &str, segment: &'p str) -> Result<Target<'p>, Problem> {
    let run = RunId::read(run)?;
    Ok(match resume_target(run, segment)? {
        ResumeTarget::Waitpoint(number) => Target::Waitpoint(run.waitpoint(number)),
        ResumeTarget::Step { .. } => Target::Step(run, segment),
    })
}

/// A waitpoint's id, or a step's name.
fn resume_target(run: RunId, segment: &str) -> Result<ResumeTarget, Problem> {
    if !segment.starts_with("wp_") {
        return Ok(ResumeTarget::Step { step: segment.to_owned(), wait: None });
    }
    let unknown = |detail: String| Problem::new(Code::UnknownWaitpoint, detail);
    let id: WaitpointId = segment.parse().map_err(|error| unknown(format!("{error}")))?;
    if id.run != run {
        return Err(Refusal::UnknownWaitpoint(id).into());
    }
    Ok(ResumeTarget::Waitpoint(id.number))
}

fn number_of(run: &Run, target: &ResumeTarget) -> Option<u32> {
    match target {
        ResumeTarget::Waitpoint(number) => Some(*number),
        ResumeTarget::Step { step, .. } => run.step(run.find_step(step)?)?.waits.get(OWN_WAIT).copied(),
    }
}

async fn check_revoked(app: &App, run: &Run, number: Option<u32>, link: &Link) -> Result<(), Problem> {
    // A step that has not begun has no waitpoint; nobody has revoked its links.
    let id = run.id.waitpoint(number.unwrap_or_default());
    let valid_in = app.link_generation(run.workspace, id).await?;
    if valid_in == link.valid_in {
        return Ok(());
    }
    Err(Problem::new(Code::LinkRevoked, "this link was revoked"))
}

/// Whoever has the link, and nothing but the link.
fn visitor(run: &Run, recipient: Option<&str>, call: &Call) -> Caller {
    let actor = Actor::new(recipient.unwrap_or(ANYONE));
    let (scopes, traceparent) = (Default::default(), call.traceparent);
    Caller { workspace: run.workspace, actor, scopes, key: None, traceparent, signed_in: false }
}
