//! Approvals that are asked for before they are waited for, so that their links can be sent.

use std::collections::BTreeMap;
use std::pin::Pin;

use super::{Approval, Context, decided};
use crate::asked::asked_of;
use crate::execution::Call;
use crate::failure::Result;
use crate::length::Length;
use crate::wait::{ForApproval, Spec, Wait};
use crate::wire::{Ask, CreateWaitpoint, CreateWaitpointType, Json, TaskWaitApproval};

/// An approval that people were asked for, and who decides where.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedApproval {
    /// As it was asked for.
    pub name: String,
    /// The approval's public id.
    pub id: String,
    /// The link for anyone, if one voice of anyone is enough.
    pub url: Option<String>,
    /// A link for each approver who is named. What is decided by it is recorded under that name.
    pub links: BTreeMap<String, String>,
    asked: TaskWaitApproval,
}

/// An approval that is asked for when this is awaited.
#[derive(Debug, Clone)]
#[must_use = "nobody is asked before it is awaited"]
pub struct NewApproval<'a> {
    context: &'a Context,
    asked: TaskWaitApproval,
}

impl Context {
    /// Asks people, and goes on: what it gives has their links, to be sent before
    /// [`wait_for_approval`](Context::wait_for_approval) waits for them.
    pub fn request_approval(&self, name: impl Into<String>) -> NewApproval<'_> {
        NewApproval { context: self, asked: TaskWaitApproval::new(name) }
    }

    /// Waits for what was decided on an approval that was asked for before.
    pub fn wait_for_approval(&self, request: &RequestedApproval) -> Wait<Approval, ForApproval> {
        self.wait(request.name.clone(), request.asked.clone(), decided)
    }
}

impl<'a> NewApproval<'a> {
    /// What people are asked.
    pub fn prompt(mut self, prompt: impl Into<String>) -> NewApproval<'a> {
        self.asked = self.asked.prompt(prompt);
        self
    }

    /// What is to be approved.
    pub fn content(mut self, content: impl Into<Json>) -> NewApproval<'a> {
        self.asked = self.asked.content(content);
        self
    }

    /// A JSON Schema that edited content must satisfy; the page behind a link makes a form of it.
    pub fn content_schema(mut self, schema: impl Into<Json>) -> NewApproval<'a> {
        self.asked = self.asked.content_schema(schema);
        self
    }

    /// Who may decide; every key with the scope `approve`, and whoever has a link, if absent.
    pub fn approvers(mut self, approvers: impl IntoIterator<Item = impl Into<String>>) -> NewApproval<'a> {
        self.asked = self.asked.approvers(approvers);
        self
    }

    /// Approvals that are needed; 1 if absent.
    pub fn quorum(mut self, quorum: u32) -> NewApproval<'a> {
        self.asked = self.asked.quorum(quorum);
        self
    }

    /// How long the wait may take; no limit if absent.
    pub fn timeout(mut self, timeout: impl Into<Length>) -> NewApproval<'a> {
        self.asked = self.asked.timeout(timeout);
        self
    }

    async fn ask(self) -> Result<RequestedApproval> {
        let NewApproval { context, asked } = self;
        let name = asked.name.clone();
        let known = context.execution.ask(&name, Call::Waitpoint)?;
        let recorded = known.as_ref().and_then(|entry| entry.wait.as_ref());
        if let Some(wait) = recorded.filter(|_| context.execution.is_rehearsal()) {
            let id = wait.waitpoint_id.clone();
            return Ok(RequestedApproval { name, id, url: None, links: BTreeMap::new(), asked });
        }
        let known = known.is_some();
        let ask = async {
            let mut create = CreateWaitpoint::new(&context.task().lease_token, &name)
                .kind(CreateWaitpointType::Approval)
                .asked(asked_of(&Spec::Wait(asked.clone().into())));
            (create.timeout_ms, create.timeout) = (asked.timeout_ms, asked.timeout.clone());
            create.approval = Some(Ask {
                approvers: asked.approvers.clone(),
                content: asked.content.clone(),
                content_schema: asked.content_schema.clone(),
                prompt: asked.prompt.clone(),
                quorum: asked.quorum,
            });
            let made = context.client.waitpoints().create(&create).await?;
            let url = made.links.iter().find(|link| link.recipient.is_none());
            let url = url.map(|link| link.confirm_url.clone());
            let named = made.links.into_iter().filter_map(|link| Some((link.recipient?, link.confirm_url)));
            Ok(RequestedApproval { name: name.clone(), id: made.id, url, links: named.collect(), asked })
        };
        if known { ask.await } else { context.execution.act(&name, ask).await }
    }
}

impl<'a> IntoFuture for NewApproval<'a> {
    type Output = Result<RequestedApproval>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<RequestedApproval>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.ask())
    }
}
