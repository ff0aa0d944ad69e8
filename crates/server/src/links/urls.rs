//! Where the links lead: URLs that end one wait, for whoever may give them out.

use std::collections::HashMap;

use abide_core::id::{RunId, WaitpointId};
use abide_core::run::Run;
use abide_core::waitpoint::{ListensFor, Waitpoint};
use abide_store::Scope;

use super::{Link, TOKEN, Target};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::PREFIXES;
use crate::problem::Problem;
use crate::shape::waitpoint::WaitpointBody;

pub(crate) struct Urls {
    /// For programs: a POST ends the wait.
    pub(crate) resume: String,
    /// For people: a page that asks first.
    pub(crate) confirm: String,
}

impl App {
    /// URLs that end a wait without a key, valid until they are revoked or the wait is over.
    pub(crate) async fn link_urls(
        &self,
        id: WaitpointId,
        recipient: Option<String>,
    ) -> Result<Urls, Problem> {
        let generation = self.engine.read(move |store| store.link_generation(id)).await?;
        Ok(self.urls(id, &Link { generation, recipient }))
    }

    fn urls(&self, id: WaitpointId, link: &Link) -> Urls {
        let token = self.links.token(Target::Waitpoint(id), link);
        let path = format!("{}{}/workflow-runs/{}/waitpoints/{id}", self.base_url, PREFIXES[0], id.run);
        let resume = format!("{path}?{TOKEN}={token}");
        Urls { resume, confirm: format!("{path}/confirm?{TOKEN}={token}") }
    }

    /// Adds its URL to every waitpoint that has one, if the caller may end it.
    pub(crate) async fn show_links(
        &self,
        caller: &Caller,
        runs: &HashMap<RunId, Run>,
        bodies: &mut [WaitpointBody],
    ) -> Result<(), Problem> {
        let shown = |id: WaitpointId| {
            let waitpoint = runs.get(&id.run).and_then(|run| run.waitpoint(id.number));
            waitpoint.is_some_and(|waitpoint| may_give_out(caller, waitpoint))
        };
        let ids: Vec<WaitpointId> = bodies.iter().map(|body| body.id).filter(|id| shown(*id)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let generations = self.engine.read(move |store| {
            ids.into_iter()
                .map(|id| Ok((id, store.link_generation(id)?)))
                .collect::<Result<HashMap<_, _>, _>>()
        });
        let generations = generations.await?;
        for body in bodies {
            if let Some(generation) = generations.get(&body.id) {
                let link = Link { generation: *generation, recipient: None };
                body.resume_url = Some(self.urls(body.id, &link).resume);
            }
        }
        Ok(())
    }
}

/// Where only named people may decide, a link for nobody in particular would be of no use. Where several must, it would
/// be a second voice for everyone who is shown it.
fn may_give_out(caller: &Caller, waitpoint: &Waitpoint) -> bool {
    waitpoint.is_pending()
        && match &waitpoint.listens_for {
            ListensFor::Call { .. } => caller.may(&[Scope::Run, Scope::Worker]),
            ListensFor::Approval(request) => {
                let for_anyone =
                    request.approvers.is_empty() && request.quorum == 1 && request.allow_self_approval;
                for_anyone && caller.may(&[Scope::Approve])
            }
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Event(_)
            | ListensFor::Child { .. } => false,
        }
}
