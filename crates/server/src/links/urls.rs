//! Where the links lead: URLs that end one wait, for whoever may give them out.

use std::collections::HashMap;

use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, ApprovalRequest, BY_SCOPE, ListensFor, Waitpoint};
use abide_engine::LinkGeneration;
use abide_engine::stored::Scope;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

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

/// Who makes the links that webhooks are told.
const WEBHOOKS: &str = "webhooks";

/// What is wanted of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Anyone if absent.
    pub(crate) recipient: Option<String>,
    /// With its waitpoint if absent.
    pub(crate) expires_at: Option<Timestamp>,
}

/// A link that lets somebody decide.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApprovalLink")]
pub(crate) struct ApprovalLink {
    /// Whom it is for; null: anyone.
    recipient: Option<String>,
    /// For people: a page that shows the content, and asks.
    confirm_url: String,
    /// For programs: a POST decides.
    resume_url: String,
}

/// Whom links to decide are for: everyone who is named, or anyone where one voice of anyone is enough.
fn recipients<'a>(approvers: impl Iterator<Item = &'a str>, anyone_may: bool) -> Vec<Option<String>> {
    let mut approvers = approvers.peekable();
    if approvers.peek().is_none() {
        return if anyone_may { vec![None] } else { Vec::new() };
    }
    approvers.filter(|name| !name.starts_with(BY_SCOPE)).map(|name| Some(name.to_owned())).collect()
}

impl App {
    /// Links for those who may decide an approval, made by whoever asks them.
    pub(crate) async fn approval_links(
        &self,
        caller: &Caller,
        id: WaitpointId,
        request: &ApprovalRequest,
    ) -> Result<Vec<ApprovalLink>, Problem> {
        let valid_in = self.link_generation(caller.workspace, id).await?;
        let anyone_may = request.quorum == 1 && request.allow_self_approval;
        let recipients = recipients(request.approvers.iter().map(|name| &**name), anyone_may);
        Ok(self.links_for(&caller.actor, id, valid_in, recipients))
    }

    /// The links of an approval for a webhook that is told of it, from what it is told.
    pub(crate) fn links_to_tell(
        &self,
        id: WaitpointId,
        valid_in: LinkGeneration,
        told: &Value,
    ) -> Vec<ApprovalLink> {
        let approvers = told["approvers"].as_array().map(Vec::as_slice).unwrap_or_default();
        let anyone_may = told["quorum"] == 1 && told["allowSelfApproval"] != false;
        let recipients = recipients(approvers.iter().filter_map(Value::as_str), anyone_may);
        self.links_for(&Actor::new(WEBHOOKS), id, valid_in, recipients)
    }

    fn links_for(
        &self,
        made_by: &Actor,
        id: WaitpointId,
        valid_in: LinkGeneration,
        recipients: Vec<Option<String>>,
    ) -> Vec<ApprovalLink> {
        let link = |recipient: Option<String>| {
            let wanted = Wanted { recipient: recipient.clone(), expires_at: None };
            let Urls { resume, confirm } = self.urls(made_by, id, valid_in, wanted);
            ApprovalLink { recipient, confirm_url: confirm, resume_url: resume }
        };
        recipients.into_iter().map(link).collect()
    }

    /// The generation in which links to a waitpoint are valid.
    pub(crate) async fn link_generation(
        &self,
        workspace: WorkspaceId,
        id: WaitpointId,
    ) -> Result<LinkGeneration, Problem> {
        let found = self.engine.workspace(workspace).waitpoints().link_generations(vec![id]).await?;
        Ok(found.get(&id).copied().unwrap_or_default())
    }

    /// URLs that end a wait of the caller's workspace without a key, valid until they are revoked, they expire, or the
    /// wait is over.
    pub(crate) async fn link_urls(
        &self,
        caller: &Caller,
        id: WaitpointId,
        wanted: Wanted,
    ) -> Result<Urls, Problem> {
        let valid_in = self.link_generation(caller.workspace, id).await?;
        Ok(self.urls(&caller.actor, id, valid_in, wanted))
    }

    fn urls(&self, made_by: &Actor, id: WaitpointId, valid_in: LinkGeneration, wanted: Wanted) -> Urls {
        let Wanted { recipient, expires_at } = wanted;
        let expires_at_s = expires_at.map(Timestamp::as_second);
        let link = Link { valid_in, made_by: made_by.clone(), recipient, expires_at_s };
        let token = self.links.token(Target::Waitpoint(id), &link);
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
        let generations = self.engine.workspace(caller.workspace).waitpoints().link_generations(ids).await?;
        for body in bodies {
            if let Some(valid_in) = generations.get(&body.id) {
                body.resume_url =
                    Some(self.urls(&caller.actor, body.id, *valid_in, Wanted::default()).resume);
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
            | ListensFor::Child { .. }
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => false,
        }
}
