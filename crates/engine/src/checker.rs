//! The thread that checks inputs against schemas where that is more than a moment's work. The request goes on when
//! the verdict is there; workspaces take turns.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, mpsc};

use abide_core::definition::{Definition, Schema};
use abide_core::id::WorkspaceId;
use abide_core::json::Json;
use abide_core::waitpoint::ApprovalRequest;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, oneshot};

use crate::error::Error;
use crate::machine::Done;
use crate::request::Request;

/// The size of the inputs of one workspace that may wait, in bytes.
const WAITING_BYTES: usize = 64 * 1024 * 1024;
/// The stack of a checking thread: checks recurse as deep as schema and value together.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// An input to check against the `inputSchema` of a definition, beside the writer.
pub struct Check {
    /// The workspace that asks; workspaces take turns.
    pub workspace: WorkspaceId,
    /// The definition whose `inputSchema` counts.
    pub definition: Arc<Definition>,
    /// The input to check.
    pub input: Json,
    /// What goes on when the verdict is there.
    pub then: Then,
}

/// What goes on when an input is checked.
pub enum Then {
    /// A request to the writer; it is asked again with the verdict.
    Request(Box<Request>),
    /// The follow-up of this workspace and id.
    FollowUp(WorkspaceId, u128),
}

#[derive(Default)]
struct Waiting {
    checks: VecDeque<Check>,
    bytes: usize,
}

pub(crate) fn start(done: UnboundedSender<Done>) -> std::io::Result<mpsc::Sender<Check>> {
    let (checks, asked) = mpsc::channel();
    let thread = std::thread::Builder::new().name("abide-check".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || work(&asked, &done))?;
    Ok(checks)
}

/// Lets one input at a time be checked for callers that do not wait at the writer.
static BESIDE: Semaphore = Semaphore::const_new(1);

/// Checks an input outside of the writer.
pub(crate) async fn check_beside(definition: &Arc<Definition>, input: &Json) -> Result<(), Error> {
    if definition.is_quick_to_check(input) {
        return Ok(definition.check_input(input)?);
    }
    let (definition, input) = (Arc::clone(definition), input.clone());
    Ok(beside(move || definition.check_input(&input)).await??)
}

/// Checks content that a voter has edited against the schema that the approval has for it.
pub(crate) async fn check_edit(asked: &ApprovalRequest, content: &Json) -> Result<(), Error> {
    let Some(schema) = asked.content_schema.clone() else { return Ok(()) };
    let content = content.clone();
    let check = move || match Schema::compile(&schema) {
        Ok(schema) => schema.errors(&content),
        Err(why) => vec![(String::new(), why)],
    };
    let errors = beside(check).await?;
    if errors.is_empty() { Ok(()) } else { Err(Error::InvalidContent(errors)) }
}

/// Runs a check that may take long and recurse deep on a thread of its own.
async fn beside<T: Send + 'static>(check: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let _turn = BESIDE.acquire().await;
    let (verdict, told) = oneshot::channel();
    let check = move || drop(verdict.send(check()));
    let thread = std::thread::Builder::new().name("abide-check-beside".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(check).map_err(|error| Error::NotStarted(error.to_string()))?;
    told.await.map_err(|_| Error::Stopped)
}

/// Checks inputs until nobody can ask any more.
fn work(asked: &mpsc::Receiver<Check>, done: &UnboundedSender<Done>) {
    let mut waiting: BTreeMap<WorkspaceId, Waiting> = BTreeMap::new();
    let mut turns: VecDeque<WorkspaceId> = VecDeque::new();
    loop {
        let first = if turns.is_empty() { asked.recv().ok() } else { None };
        if turns.is_empty() && first.is_none() {
            return;
        }
        for check in first.into_iter().chain(asked.try_iter()) {
            let of = waiting.entry(check.workspace).or_default();
            let is_full = of.bytes > WAITING_BYTES;
            if is_full && matches!(check.then, Then::Request(_)) {
                tell(done, check, Err(Error::Overloaded { retry_after: crate::engine::RETRY_AFTER }));
                continue;
            }
            of.bytes += check.input.bytes();
            if of.checks.is_empty() {
                turns.push_back(check.workspace);
            }
            of.checks.push_back(check);
        }
        let Some(workspace) = turns.pop_front() else { continue };
        let Some(of) = waiting.get_mut(&workspace) else { continue };
        if let Some(check) = of.checks.pop_front() {
            of.bytes = of.bytes.saturating_sub(check.input.bytes());
            let result = check.definition.check_input(&check.input).map_err(Error::from);
            tell(done, check, result);
        }
        if of.checks.is_empty() {
            waiting.remove(&workspace);
        } else {
            turns.push_back(workspace);
        }
    }
}

fn tell(done: &UnboundedSender<Done>, check: Check, result: Result<(), Error>) {
    let Check { definition, then, .. } = check;
    // The writer may have gone.
    let _ = done.send(Done::Checked { definition, result, then });
}
