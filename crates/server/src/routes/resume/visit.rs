//! A visit to a resume URL: who comes, and to which wait.

use abide_core::command::ResumeTarget;
use abide_core::id::{RunId, WaitpointId};
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, Kind, ListensFor, Waitpoint};

use crate::app::App;
use crate::caller::Caller;
use crate::links::{Link, TOKEN, Target};
use crate::problem::{Code, Problem};
use crate::request::Ids;
use crate::request::call::Call;

/// A wait that a step opens for itself.
const OWN_WAIT: &str = "$wait";

pub(super) struct Visit {
    pub(super) run: RunId,
    /// The visitor: a key's, or the link's.
    pub(super) caller: Caller,
    /// The link is all that lets the visitor in, and all that it may do.
    pub(super) by_link: bool,
    pub(super) target: ResumeTarget,
    pub(super) workflow: String,
    /// Of the waitpoint; `None` while the step it is for has not begun.
    pub(super) kind: Option<Kind>,
    number: Option<u32>,
    allow_get: bool,
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
        let token = call.param(TOKEN);
        let link = match (&caller, &token) {
            (_, Some(token)) => Some(app.links.check(&app.engine, link_target(*run, segment)?, token).await?),
            (Some(_), None) => None,
            (None, None) => return Err(Problem::new(Code::BadLink, "the URL has no token")),
        };
        let found = match &caller {
            Some(caller) => app.run(caller, *run).await?,
            None => app.engine.get(*run).await?,
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
            check_generation(app, *run, number, link).await?;
        }
        let by_link = caller.is_none();
        let caller = caller.unwrap_or_else(|| visitor(&found, link.and_then(|link| link.recipient), call));
        Ok(Visit {
            run: *run,
            caller,
            by_link,
            target,
            workflow: found.definition_ref.name.to_string(),
            kind: waitpoint.map(|waitpoint| waitpoint.kind),
            number,
            allow_get: waitpoint.is_some_and(allows_get),
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

fn allows_get(waitpoint: &Waitpoint) -> bool {
    matches!(waitpoint.listens_for, ListensFor::Call { allow_get: true })
}

fn link_target(run: RunId, segment: &str) -> Result<Target<'_>, Problem> {
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

async fn check_generation(app: &App, run: RunId, number: Option<u32>, link: &Link) -> Result<(), Problem> {
    let current = match number {
        Some(number) => {
            let id = run.waitpoint(number);
            app.engine.read(move |store| store.link_generation(id)).await?
        }
        None => 0,
    };
    if link.generation == current {
        return Ok(());
    }
    Err(Problem::new(Code::LinkRevoked, "this link was revoked"))
}

/// Whoever has the link, and nothing but the link.
fn visitor(run: &Run, recipient: Option<String>, call: &Call) -> Caller {
    let actor = recipient.map_or_else(|| Actor::new("link"), |recipient| Actor::new(&recipient));
    let (scopes, traceparent) = (Default::default(), call.traceparent);
    Caller { workspace: run.workspace, actor, scopes, key: None, traceparent, signed_in: false }
}
